package io.orbitkv.core;

import io.orbitkv.core.copy.RestoreCopy;
import org.jspecify.annotations.Nullable;

/**
 * A restore whose bytes are on their way.
 *
 * @param startedMicros monotonic clock
 */
record LiveRestore(
    long id,
    LiveSession session,
    LiveLease lease,
    Command.Restore command,
    SharedBuffers buffers,
    int blocks,
    long startedMicros,
    RestoreCopy copy) {

  ReplySink replyTo() {
    return command.replyTo();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }
}
