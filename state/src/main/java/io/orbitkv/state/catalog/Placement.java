package io.orbitkv.state.catalog;

import java.util.List;

/**
 * Which hosts hold a catalog shard.
 *
 * @param catalogShard 0 to {@link CatalogShards#COUNT} - 1
 * @param generation from 1, grows with each handoff
 * @param members the hosts, without repetition, at least one, whoever is to lead first: two
 *     placements of the same hosts in another order are the same to a handoff
 */
public record Placement(int catalogShard, long generation, List<NodeId> members) {

  /** Copies the list and refuses what no placement can be. */
  public Placement {
    members = List.copyOf(members);
    if (catalogShard < 0 || catalogShard >= CatalogShards.COUNT || generation < 1) {
      throw new IllegalArgumentException(
          "catalog shard " + catalogShard + " at generation " + generation);
    }
    if (members.isEmpty() || members.stream().distinct().count() != members.size()) {
      throw new IllegalArgumentException("members " + members);
    }
  }

  /** Whether others are the same hosts, in any order. */
  boolean hasSameHosts(List<NodeId> others) {
    return members.size() == others.size() && members.containsAll(others);
  }
}
