package io.orbitkv.core.remote;

import java.util.List;

/** What became of one block that a peer asked for. */
public sealed interface BlockGrant {
  /** It may be read. */
  record Given(List<Slice> slices) implements BlockGrant {
    /** Copies the list. */
    public Given {
      slices = List.copyOf(slices);
    }
  }

  /** It may not; others of the same request may. */
  record NotGiven(GrantRefusal reason, String message) implements BlockGrant {}

  /**
   * Where one slice lies in this host's pool.
   *
   * @param shard the rank, 0 for a replicated group
   * @param checksum what its bytes must sum up to
   */
  record Slice(int shard, long poolOffset, int bytes, long checksum) {}
}
