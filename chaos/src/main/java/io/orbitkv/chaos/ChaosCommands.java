package io.orbitkv.chaos;

import io.orbitkv.manager.cli.ExtraCommands;
import java.util.List;

/** Adds {@code orbitkv chaos} to the command line. */
public final class ChaosCommands implements ExtraCommands {
  @Override
  public List<Object> commands() {
    return List.of(new ChaosCommand());
  }
}
