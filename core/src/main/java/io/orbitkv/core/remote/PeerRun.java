package io.orbitkv.core.remote;

import io.orbitkv.state.catalog.NodeId;
import java.util.UUID;

/**
 * One run of another host's Manager.
 *
 * @param node the host
 * @param runtime drawn at every start
 * @param epoch grows with every start of the host
 */
public record PeerRun(NodeId node, UUID runtime, long epoch) {
  /** {@code node/epoch}. */
  @Override
  public String toString() {
    return node + "/" + epoch;
  }
}
