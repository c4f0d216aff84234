package io.orbitkv.catalog.handoff;

import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.catalog.Rendezvous;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Where catalog shards should go. Pure: every host computes the same of the same. */
public final class Targets {
  private Targets() {}

  /**
   * The members that a catalog shard would have if it were founded with the hosts that are live;
   * empty if it has them.
   */
  public static Optional<List<NodeId>> rebalanced(
      Placement placement, Collection<NodeId> live, int replicationFactor) {
    List<NodeId> best = Rendezvous.members(placement.catalogShard(), live, replicationFactor);
    return Set.copyOf(best).equals(Set.copyOf(placement.members()))
        ? Optional.empty()
        : Optional.of(best);
  }

  /**
   * The members without those of them that leave, with the best live hosts in their place; empty if
   * none of them leaves, or no host is there to stay.
   */
  public static Optional<List<NodeId>> without(
      Placement placement, Set<NodeId> leaving, Collection<NodeId> live) {
    List<NodeId> stay = new ArrayList<>(placement.members());
    if (!stay.removeAll(leaving)) {
      return Optional.empty();
    }
    Set<NodeId> candidates = new TreeSet<>(live);
    candidates.removeAll(leaving);
    candidates.removeAll(new HashSet<>(placement.members()));
    int missing = placement.members().size() - stay.size();
    if (!candidates.isEmpty()) {
      stay.addAll(Rendezvous.members(placement.catalogShard(), candidates, missing));
    }
    return stay.isEmpty() ? Optional.empty() : Optional.of(stay);
  }
}
