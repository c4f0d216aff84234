package io.orbitkv.catalog.inventory;

import io.orbitkv.state.catalog.NodeId;
import java.util.OptionalLong;

/**
 * How one stream of this host to a replica is.
 *
 * @param catalogShard the catalog shard
 * @param replica the host that it goes to
 * @param phase what it does
 * @param acknowledged the position of the view that lookups see there
 * @param behind how many positions that is behind this host's journal; all of it without a view
 * @param opened how often it was opened
 * @param snapshots how many snapshots were begun
 * @param framesSent frames sent in all
 * @param lastProblem why it last ended; empty when it never did
 */
public record SenderStatus(
    int catalogShard,
    NodeId replica,
    Phase phase,
    OptionalLong acknowledged,
    long behind,
    long opened,
    long snapshots,
    long framesSent,
    String lastProblem) {

  /** What a stream does. */
  public enum Phase {
    /** It waits before it is opened again. */
    WAITING,
    /** It was opened and is not answered yet. */
    OPENING,
    /** It sends a snapshot. */
    SNAPSHOT,
    /** It sends changes as they come. */
    CHANGES
  }
}
