package io.orbitkv.client;

import io.orbitkv.client.wire.Refusal;

/** What a restore gave. */
public sealed interface RestoreResult {
  /** All bytes are in place, and verified unless the Manager does not verify. */
  record Restored(long bytes) implements RestoreResult {}

  /** It was cancelled; the destination blocks have undefined contents. */
  record Cancelled() implements RestoreResult {}

  /** It was begun and did not succeed; the destination blocks have undefined contents. */
  record Failed(Refusal why) implements RestoreResult {}

  /** Nothing was done; the destination blocks were not touched. */
  record Refused(Refusal refusal) implements RestoreResult {}
}
