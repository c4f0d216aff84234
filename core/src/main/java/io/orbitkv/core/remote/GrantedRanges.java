package io.orbitkv.core.remote;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * What of this host's pool others may read: the table that the transfer engine asks before it
 * serves a byte. The loop calls it and polls it; nobody else opens or revokes, and no call waits.
 * Whoever implements it wakes the loop when there is something to poll.
 */
public interface GrantedRanges {
  /**
   * Bytes of the pool.
   *
   * @param offset from its first byte
   */
  record Range(long offset, long bytes) {}

  /**
   * What a peer shows to read.
   *
   * @param id random
   * @param secretHigh with {@code secretLow} 128 random bits
   */
  record Admission(UUID id, long secretHigh, long secretLow) {
    /** Does not say the secret, for logs. */
    @Override
    public String toString() {
      return "grant " + id;
    }
  }

  /**
   * Admits reads of exactly these ranges.
   *
   * @param validMillis how long reads may begin; it goes on existing until it is revoked
   * @return empty when there are too many
   */
  Optional<Admission> open(List<Range> ranges, long validMillis);

  /**
   * Admits nothing new. {@link RemoteEvents#drained} follows, once, when nothing reads any more;
   * for a grant that is not there as well.
   */
  void revoke(UUID grantId);

  /** Tells what has drained, at most {@code limit} grants; returns how many. */
  int poll(RemoteEvents events, int limit);
}
