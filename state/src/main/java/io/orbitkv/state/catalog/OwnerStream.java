package io.orbitkv.state.catalog;

import java.util.UUID;

/**
 * The newest run of an owner that a catalog shard knows.
 *
 * @param runtime of that run, not the UUID of zeros
 * @param epoch of that run, from 1
 * @param fenced whether its stream counts no more
 */
public record OwnerStream(UUID runtime, long epoch, boolean fenced) {
  static final UUID NO_RUN = new UUID(0, 0);

  /** Refuses what no run has. */
  public OwnerStream {
    if (epoch < 1 || runtime.equals(NO_RUN)) {
      throw new IllegalArgumentException("run " + runtime + " of epoch " + epoch);
    }
  }
}
