package io.orbitkv.manager;

import io.orbitkv.core.CommandSource;
import io.orbitkv.core.FactLog;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.ffi.cuda.Cuda;

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
   */
  default CopyExecutor copies(CopyExecutor workers) {
    return workers;
  }

  /** The driver of the host's GPUs; called when the first engine on one registers. */
  default Cuda.Found cuda() {
    return Cuda.find();
  }
}
