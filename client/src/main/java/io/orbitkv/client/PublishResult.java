package io.orbitkv.client;

import io.orbitkv.client.wire.PublishReply;
import io.orbitkv.client.wire.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * What a publish gave. The source pages may be reused, unless it failed with SESSION_LOST or
 * DEADLINE: then copies may still be running.
 */
public sealed interface PublishResult {
  /**
   * It was done, for some or all blocks.
   *
   * @param refusedBecause why some blocks were refused, null if none was
   */
  record Published(PublishReply reply, long storedBytes, @Nullable Refusal refusedBecause)
      implements PublishResult {}

  /** It was cancelled; nothing of it can be found. */
  record Cancelled() implements PublishResult {}

  /** It was begun and did not succeed; nothing of it can be found. */
  record Failed(Refusal why) implements PublishResult {}

  /** Nothing was done. */
  record Refused(Refusal refusal) implements PublishResult {}
}
