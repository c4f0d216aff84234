package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Refusal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** What an owner says to a {@link GrantRequest}. */
public sealed interface GrantAnswer {

  /**
   * The blocks that were given are pinned until the grant is released.
   *
   * @param grantId names it
   * @param secret proves it to the transfer engine
   * @param validity how long reads may begin
   * @param blocks the outcome of each block, as they were asked
   */
  record Granted(UUID grantId, Secret secret, Duration validity, List<BlockOutcome> blocks)
      implements GrantAnswer {
    /** Copies the list. */
    public Granted {
      blocks = List.copyOf(blocks);
    }
  }

  /**
   * 128 random bits that nobody else knows.
   *
   * @param high the first half
   * @param low the second half
   */
  record Secret(long high, long low) {
    /** Says nothing, for logs. */
    @Override
    public String toString() {
      return "(secret)";
    }
  }

  /** Nothing is given. */
  record Refused(Refusal refusal) implements GrantAnswer {}

  /** The outcome of one block. */
  sealed interface BlockOutcome {
    /** Where its slices lie. */
    record Given(List<SliceRange> slices) implements BlockOutcome {}

    /** It is not given; the others may be. */
    record NotGiven(Refusal refusal) implements BlockOutcome {}
  }

  /**
   * Where one shard's slice lies in the owner's pool.
   *
   * @param shard the rank
   * @param offset its first byte
   * @param length bytes
   * @param checksum what the bytes must sum up to, as the journal has it
   */
  record SliceRange(int shard, long offset, long length, long checksum) {}
}
