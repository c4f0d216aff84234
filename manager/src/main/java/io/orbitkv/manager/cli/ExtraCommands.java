package io.orbitkv.manager.cli;

import java.util.List;

/**
 * Commands of a module that stands above this one; found by {@link java.util.ServiceLoader} on the
 * class path.
 */
public interface ExtraCommands {
  /** Objects annotated as commands of picocli, each a {@code Callable<Integer>}. */
  List<Object> commands();
}
