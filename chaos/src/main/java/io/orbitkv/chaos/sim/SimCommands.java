package io.orbitkv.chaos.sim;

import io.orbitkv.manager.cli.ExtraCommands;
import java.util.List;

/** Adds {@code orbitkv sim} to the command line. */
public final class SimCommands implements ExtraCommands {
  @Override
  public List<Object> commands() {
    return List.of(new SimCommand());
  }
}
