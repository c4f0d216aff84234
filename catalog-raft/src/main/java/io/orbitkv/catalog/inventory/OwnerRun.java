package io.orbitkv.catalog.inventory;

import io.orbitkv.state.catalog.NodeId;
import java.util.UUID;

/**
 * One run of the daemon that owns blocks.
 *
 * @param node the host
 * @param runtime drawn at every start; a grant is asked of this runtime only
 * @param epoch grows with every start of the host, at least 1
 */
public record OwnerRun(NodeId node, UUID runtime, long epoch) {

  /** Refuses an epoch below 1. */
  public OwnerRun {
    if (epoch < 1) {
      throw new IllegalArgumentException("epoch " + epoch);
    }
  }

  /** {@code node/epoch}. */
  @Override
  public String toString() {
    return node + "/" + epoch;
  }
}
