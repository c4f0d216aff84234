package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Rendezvous;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** Some hosts of one cluster, each with its server in this process. */
final class RaftHosts implements AutoCloseable {
  /** For a machine with two cores and other work on them. */
  static final long PATIENCE_MILLIS = 60_000;

  private final Path dir;
  private final int snapshotEvery;
  private final Map<NodeId, Endpoint> addresses = new TreeMap<>();
  private final Map<NodeId, CatalogReplicas> running = new TreeMap<>();

  RaftHosts(Path dir, int count, int snapshotEvery) {
    this.dir = dir;
    this.snapshotEvery = snapshotEvery;
    IntStream.range(0, count).forEach(i -> add());
  }

  /** One host more, not started. */
  NodeId add() {
    NodeId node = new NodeId("host-" + addresses.size());
    addresses.put(node, new Endpoint("127.0.0.1", freePort()));
    return node;
  }

  List<NodeId> nodes() {
    return List.copyOf(addresses.keySet());
  }

  CatalogReplicas start(NodeId node) {
    try {
      CatalogReplicas replicas = start(node, "test");
      running.put(node, replicas);
      return replicas;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Starts a host of that cluster and leaves its end to the caller. */
  CatalogReplicas start(NodeId node, String cluster) throws IOException {
    RaftOptions options =
        new RaftOptions(
            cluster,
            node,
            at(node),
            dir.resolve(node.text()),
            Optional.empty(),
            500,
            3_000,
            snapshotEvery);
    return CatalogReplicas.start(options, other -> Optional.ofNullable(addresses.get(other)));
  }

  void stop(NodeId node) {
    CatalogReplicas replicas = running.remove(node);
    try {
      if (replicas != null) {
        replicas.close();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Founds these catalog shards with the first hosts, as every one of them would. */
  void found(int catalogShards, int replicationFactor) {
    List<NodeId> hosts = List.copyOf(running.keySet());
    for (int shard = 0; shard < catalogShards; shard++) {
      List<NodeId> members = Rendezvous.members(shard, hosts, replicationFactor);
      for (CatalogReplicas each : running.values()) {
        each.found(shard, members);
      }
    }
  }

  CatalogReplicas host(NodeId node) {
    CatalogReplicas replicas = running.get(node);
    if (replicas == null) {
      throw new IllegalStateException(node + " does not run");
    }
    return replicas;
  }

  List<CatalogReplicas> all() {
    return List.copyOf(running.values());
  }

  /** Whether it is the last of those that run. */
  boolean isLast(NodeId node) {
    List<NodeId> nodes = List.copyOf(running.keySet());
    return nodes.getLast().equals(node);
  }

  Optional<NodeId> leader(int catalogShard) {
    return running.entrySet().stream()
        .filter(each -> each.getValue().leads(catalogShard))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  NodeId awaitLeader(int catalogShard) {
    await("a leader of catalog shard " + catalogShard, () -> leader(catalogShard).isPresent());
    return leader(catalogShard).orElseThrow();
  }

  static void await(String what, BooleanSupplier condition) {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > until) {
        throw new AssertionError("not within " + PATIENCE_MILLIS + " ms: " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  static <T> T given(LogAnswer<T> answer) {
    return switch (answer) {
      case LogAnswer.Given<T>(T value) -> value;
      case LogAnswer.NotGiven<T>(var why) -> throw new AssertionError(why.toString());
    };
  }

  Endpoint at(NodeId node) {
    Endpoint at = addresses.get(node);
    if (at == null) {
      throw new IllegalArgumentException(node + " is no host");
    }
    return at;
  }

  static boolean everyShard(java.util.function.IntPredicate holds) {
    return IntStream.range(0, CatalogShards.COUNT).allMatch(holds);
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    nodes().forEach(this::stop);
  }
}
