package io.orbitkv.chaos.fault;

import io.orbitkv.manager.cli.Logging;
import io.orbitkv.manager.cli.ManagerCommand;
import java.util.Arrays;
import picocli.CommandLine;

/** Runs {@code orbitkv manager} with a fault. Its arguments are the fault's name and those. */
public final class FaultyManager {
  private FaultyManager() {}

  /**
   * Runs until it is stopped.
   *
   * @param arguments fault, "manager", flags
   */
  public static void main(String[] arguments) {
    Logging.setUp("warn");
    ManagerCommand command = new ManagerCommand(Fault.valueOf(arguments[0]).wiring());
    CommandLine line = new CommandLine(command);
    ManagerCommand.addOptions(line.getCommandSpec());
    System.exit(line.execute(Arrays.copyOfRange(arguments, 2, arguments.length)));
  }
}
