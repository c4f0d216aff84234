package io.orbitkv.chaos.fault;

import io.orbitkv.core.CommandSource;
import io.orbitkv.core.FactLog;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.manager.cli.Logging;
import io.orbitkv.manager.cli.ManagerCommand;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import picocli.CommandLine;

/**
 * Runs {@code orbitkv manager} with a fault, on a disk with faults, or both. Its arguments are the
 * fault's name, the disk's {@link DiskControl}, each {@code -} for none, and those of the command.
 */
public final class FaultyManager {
  static final String NONE = "-";

  private FaultyManager() {}

  /**
   * Runs until it is stopped.
   *
   * @param arguments fault, control file, "manager", flags
   */
  public static void main(String[] arguments) throws IOException {
    Logging.setUp("warn");
    LoopWiring wiring =
        arguments[0].equals(NONE) ? LoopWiring.DIRECT : Fault.valueOf(arguments[0]).wiring();
    if (!arguments[1].equals(NONE)) {
      wiring = new OnFaultyDisk(wiring, DiskControl.open(Path.of(arguments[1])));
    }
    ManagerCommand command = new ManagerCommand(wiring);
    CommandLine line = new CommandLine(command);
    ManagerCommand.addOptions(line.getCommandSpec());
    System.exit(line.execute(Arrays.copyOfRange(arguments, 3, arguments.length)));
  }

  private record OnFaultyDisk(LoopWiring wiring, DiskControl control) implements LoopWiring {
    @Override
    public SsdDevice disk(SsdDevice device) {
      return new FaultyDisk(wiring.disk(device), control);
    }

    @Override
    public FactLog log(FactLog journal) {
      return wiring.log(journal);
    }

    @Override
    public CommandSource commands(CommandSource endpoint, ExtentAllocator extents) {
      return wiring.commands(endpoint, extents);
    }

    @Override
    public CopyExecutor copies(CopyExecutor workers, MemorySegment pool) {
      return wiring.copies(workers, pool);
    }

    @Override
    public Cuda.Found cuda() {
      return wiring.cuda();
    }

    @Override
    public SsdStore ssd(SsdStore store) {
      return wiring.ssd(store);
    }
  }
}
