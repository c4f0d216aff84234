package io.orbitkv.catalog.membership;

import io.orbitkv.state.catalog.NodeId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The hosts that the first placements of catalog shards are drawn from. It is agreed once; only an
 * administrator replaces it.
 *
 * @param hosts in order, without repetition, at least one
 * @param replicationFactor replicas of each catalog shard, 1 to the number of hosts
 */
public record HostSet(List<NodeId> hosts, int replicationFactor) {

  /** Sorts the hosts and refuses what no placement can be drawn from. */
  public HostSet {
    hosts = hosts.stream().sorted().distinct().toList();
    if (hosts.isEmpty() || replicationFactor < 1 || replicationFactor > hosts.size()) {
      throw new IllegalArgumentException(
          replicationFactor + " replicas on " + hosts.size() + " hosts");
    }
  }

  String toText() {
    return Text.write(
        Map.of(
            "hosts", hosts.stream().map(NodeId::toString).collect(Collectors.joining(",")),
            "replication", Integer.toString(replicationFactor)));
  }

  static Optional<HostSet> parse(String text) {
    Map<String, String> fields = Text.read(text);
    try {
      return Optional.of(
          new HostSet(
              Arrays.stream(fields.getOrDefault("hosts", "").split(",", -1))
                  .map(NodeId::new)
                  .toList(),
              Integer.parseInt(fields.getOrDefault("replication", ""))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
