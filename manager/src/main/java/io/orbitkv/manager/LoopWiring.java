package io.orbitkv.manager;

import io.orbitkv.core.CommandSource;
import io.orbitkv.core.FactLog;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.ffi.cuda.Cuda;
import java.lang.foreign.MemorySegment;

/**
 * What stands between the loop and the parts it works with: in a daemon nothing. A harness that
 * plants a fault puts a faulty part of its own there, so that the daemon itself has no switch for
 * it.
 */
public interface LoopWiring {
  /** The parts as they are. */
  LoopWiring DIRECT = new LoopWiring() {};

  /**
   * The log that the loop appends to.
   *
   * @param journal the daemon's
   */
  default FactLog log(FactLog journal) {
    return journal;
  }

  /**
   * Where the loop takes its commands from.
   *
   * @param endpoint the daemon's
   * @param extents the books of its pool, which belong to the loop's thread
   */
  default CommandSource commands(CommandSource endpoint, ExtentAllocator extents) {
    return endpoint;
  }

  /**
   * What runs the copies that are too large for the loop.
   *
   * @param workers the daemon's
   * @param pool the memory that they copy from and to
   */
  default CopyExecutor copies(CopyExecutor workers, MemorySegment pool) {
    return workers;
  }

  /** The driver of the host's GPUs; called when the first engine on one registers. */
  default Cuda.Found cuda() {
    return Cuda.find();
  }

  /**
   * The disk under the SSD tier, as its worker sees it.
   *
   * @param device the daemon's
   */
  default SsdDevice disk(SsdDevice device) {
    return device;
  }

  /**
   * The SSD tier's store, as the loop sees it.
   *
   * @param store the daemon's
   */
  default SsdStore ssd(SsdStore store) {
    return store;
  }
}
