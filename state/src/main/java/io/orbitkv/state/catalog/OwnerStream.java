package io.orbitkv.state.catalog;

import java.util.UUID;

/**
 * The newest run of an owner that a catalog shard knows.
 *
 * @param runtime of that run; null UUID (all zeros) if only a fence is known
 * @param epoch of that run, or of the fence, from 1
 * @param fenced whether its stream counts no more
 */
public record OwnerStream(UUID runtime, long epoch, boolean fenced) {
  static final UUID NO_RUN = new UUID(0, 0);
}
