package io.orbitkv.core.pool;

import java.util.UUID;

/**
 * What the journal knows a pool by.
 *
 * @param high with {@code low} the UUID that the pool's file carries; both 0 for memory that dies
 *     with the daemon
 */
public record PoolId(long high, long low) {
  /** Memory that dies with the daemon. */
  public static final PoolId NONE = new PoolId(0, 0);

  public static PoolId of(UUID id) {
    return new PoolId(id.getMostSignificantBits(), id.getLeastSignificantBits());
  }

  /** Whether the pool's bytes outlive the daemon. */
  public boolean keeps() {
    return (high | low) != 0;
  }

  @Override
  public String toString() {
    return keeps() ? new UUID(high, low).toString() : "none";
  }
}
