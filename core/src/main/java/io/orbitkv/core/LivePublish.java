package io.orbitkv.core;

import io.orbitkv.core.Reply.PublishOutcome;
import io.orbitkv.core.copy.PublishCopy;
import org.jspecify.annotations.Nullable;

/**
 * A publish whose bytes are on their way.
 *
 * @param blockIds of the whole request, in its order; 0 for a block that was refused or repeated
 * @param outcomes of the whole request, codes of {@link PublishOutcome}
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
record LivePublish(
    long id,
    LiveSession session,
    Command.Publish command,
    long[] blockIds,
    byte[] outcomes,
    PublishCopy copy) {

  ReplySink replyTo() {
    return command.replyTo();
  }

  /** Whether this publish stores the block at that place of the request. */
  boolean stored(int ordinal) {
    return outcomes[ordinal] == PublishOutcome.STORED.code();
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
