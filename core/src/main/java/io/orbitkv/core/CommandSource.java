package io.orbitkv.core;

import java.util.function.Consumer;

/**
 * Where the manager loop takes its commands from: the rings and sockets of the endpoint, or a test.
 */
@FunctionalInterface
public interface CommandSource {
  /**
   * Hands over commands that have arrived, on the loop thread, without blocking.
   *
   * @param limit the most that may be handed over now
   * @return how many were
   */
  int poll(Consumer<Command> loop, int limit);
}
