package io.orbitkv.catalog.bench;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.FeedEvent;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.catalog.inventory.RowBatch;
import io.orbitkv.catalog.lookup.LocalLookup;
import io.orbitkv.catalog.lookup.PlacementView;
import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.GrantAnswer;
import io.orbitkv.catalog.peer.GrantAuthority;
import io.orbitkv.catalog.peer.GrantRelease;
import io.orbitkv.catalog.peer.GrantRequest;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.peer.PeerHandlers;
import io.orbitkv.catalog.peer.PeerLimits;
import io.orbitkv.catalog.peer.PeerSecurity;
import io.orbitkv.catalog.peer.PeerServer;
import io.orbitkv.catalog.peer.PeerStats;
import io.orbitkv.catalog.peer.PeerThreads;
import io.orbitkv.catalog.peer.PlacementFeed;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A replica of all catalog shards with a real peer server, for a benchmark in another process. It
 * serves inventories only; grants and orders are refused. Changes carry the time at which they were
 * told as their generation, on the clock that all processes of a Linux host share.
 */
final class BenchReplica
    implements GrantAuthority, CatalogAdmin, PlacementFeed, PlacementView, AutoCloseable {
  private static final Refusal NOT_HERE =
      new Refusal(RefusalCategory.USER, "this is a benchmark", "ask a Manager");

  private final InventoryReceiver receiver = new InventoryReceiver(8);
  private final long[] nanos;
  private final PeerThreads threads = new PeerThreads(1);
  private final PeerServer server;
  private int samples;

  BenchReplica(int maxSamples) throws IOException {
    nanos = new long[maxSamples];
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      InventoryTable table = receiver.serve(shard);
      long[] after = new long[1];
      table.feed().onChange(() -> note(table, after));
    }
    server =
        PeerServer.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            PeerSecurity.NONE,
            PeerLimits.DEFAULT,
            new PeerHandlers(
                new UUID(1, 1),
                this,
                receiver,
                new LocalLookup(receiver, this, Set::of),
                this,
                this),
            new PeerStats(),
            threads);
  }

  int port() {
    return server.port();
  }

  /** Called when lookups see a change: its rows are in the table already. */
  private synchronized void note(InventoryTable table, long[] after) {
    long now = System.nanoTime();
    for (FeedEvent event : table.feed().after(after[0], Integer.MAX_VALUE).orElse(List.of())) {
      after[0] = event.number();
      if (event instanceof FeedEvent.Changed changed) {
        RowBatch rows = changed.rows();
        for (int i = 0; i < rows.size() && samples < nanos.length; i++) {
          nanos[samples++] = now - rows.generation(i);
        }
      }
    }
  }

  /** The latencies behind the first so many samples, which warm up. */
  synchronized Latencies latencies(int warmUp) {
    int skip = Math.min(warmUp, samples);
    System.arraycopy(nanos, skip, nanos, 0, samples - skip);
    return Latencies.of(nanos, samples - skip);
  }

  synchronized int samples() {
    return samples;
  }

  long rows() {
    return receiver.tables().values().stream()
        .mapToLong(table -> table.stats().visibleRows())
        .sum();
  }

  @Override
  public CompletionStage<GrantAnswer> authorize(NodeId peer, GrantRequest request) {
    return CompletableFuture.completedFuture(new GrantAnswer.Refused(NOT_HERE));
  }

  @Override
  public CompletionStage<Optional<Refusal>> release(NodeId peer, GrantRelease release) {
    return CompletableFuture.completedFuture(Optional.of(NOT_HERE));
  }

  @Override
  public CompletionStage<Placements> placements(Set<Integer> catalogShards) {
    return CompletableFuture.completedFuture(new Placements.Refused(NOT_HERE));
  }

  @Override
  public CompletionStage<HandoffReport> handoff(HandoffOrder order) {
    return CompletableFuture.completedFuture(new HandoffReport.Refused(NOT_HERE));
  }

  @Override
  public long last() {
    return 0;
  }

  @Override
  public Optional<List<Change>> after(long position, int max) {
    return Optional.of(List.of());
  }

  @Override
  public void onChange(Runnable wake) {}

  @Override
  public void removeListener(Runnable wake) {}

  @Override
  public Placement placement(int catalogShard) {
    return new Placement(catalogShard, 1, List.of(new NodeId("replica")));
  }

  @Override
  public void learn(Placement newer) {}

  @Override
  public void close() {
    server.close();
    threads.close();
  }
}
