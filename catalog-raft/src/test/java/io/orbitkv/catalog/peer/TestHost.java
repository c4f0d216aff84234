package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.lookup.LocalLookup;
import io.orbitkv.catalog.lookup.PlacementView;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A host with a listening server, clients to others, and handlers that live in memory. */
final class TestHost
    implements GrantAuthority, CatalogAdmin, PlacementFeed, PlacementView, AutoCloseable {
  static final Map<NodeId, Endpoint> ENDPOINTS = new ConcurrentHashMap<>();

  final NodeId node;
  final OwnerRun run;
  final PeerSecurity security;
  final PeerLimits limits;
  final PeerStats stats = new PeerStats();
  final PeerThreads threads = new PeerThreads(1);
  final InventoryReceiver receiver = new InventoryReceiver(8);
  final PeerClients clients;

  /** Grants that it was asked for, answered or not. */
  final AtomicInteger asked = new AtomicInteger();

  final List<GrantRequest> pinned = new CopyOnWriteArrayList<>();
  final Map<UUID, NodeId> grants = new ConcurrentHashMap<>();
  final List<HandoffOrder> orders = new CopyOnWriteArrayList<>();
  final List<Change> changes = new CopyOnWriteArrayList<>();
  final List<Runnable> wakes = new CopyOnWriteArrayList<>();
  private final Map<Integer, Placement> placements = new ConcurrentHashMap<>();
  volatile CompletableFuture<Boolean> gate = CompletableFuture.completedFuture(true);
  PeerServer server;

  TestHost(String name, PeerSecurity security, PeerLimits limits) throws IOException {
    this.node = new NodeId(name);
    this.run = new OwnerRun(node, UUID.randomUUID(), 1);
    this.security = security;
    this.limits = limits;
    this.server = listen(0);
    this.clients =
        new PeerClients(
            node,
            peer -> Optional.ofNullable(ENDPOINTS.get(peer)),
            security,
            limits,
            stats,
            threads,
            new Random(1),
            System::nanoTime);
  }

  PeerServer listen(int port) throws IOException {
    PeerServer started =
        PeerServer.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            security,
            limits,
            new PeerHandlers(
                run.runtime(),
                this,
                receiver,
                new LocalLookup(receiver, this, Set::of),
                this,
                this),
            stats,
            threads);
    ENDPOINTS.put(node, new Endpoint("127.0.0.1", started.port()));
    return started;
  }

  PeerClient to(TestHost other) {
    return clients.client(other.node).orElseThrow();
  }

  @Override
  public CompletionStage<GrantAnswer> authorize(NodeId peer, GrantRequest request) {
    asked.incrementAndGet();
    return gate.thenApply(_ -> decide(peer, request));
  }

  private GrantAnswer decide(NodeId peer, GrantRequest request) {
    if (!request.ownerRuntime().equals(run.runtime())) {
      return new GrantAnswer.Refused(
          new Refusal(RefusalCategory.STALE, "another runtime", "look up again"));
    }
    pinned.add(request);
    UUID id = UUID.randomUUID();
    grants.put(id, peer);
    List<GrantAnswer.BlockOutcome> outcomes = new ArrayList<>();
    for (GrantRequest.Wanted wanted : request.blocks()) {
      outcomes.add(
          wanted.generation() == 7
              ? new GrantAnswer.BlockOutcome.Given(
                  List.of(new GrantAnswer.SliceRange(0, 4096, 8192, -3)))
              : new GrantAnswer.BlockOutcome.NotGiven(
                  new Refusal(RefusalCategory.STALE, "generation 7 is here", "look up again")));
    }
    return new GrantAnswer.Granted(
        id, new GrantAnswer.Secret(5, -6), Duration.ofSeconds(3), outcomes);
  }

  @Override
  public CompletionStage<Optional<Refusal>> release(NodeId peer, GrantRelease release) {
    return CompletableFuture.completedFuture(
        grants.remove(release.grantId(), peer)
            ? Optional.empty()
            : Optional.of(new Refusal(RefusalCategory.STALE, "no such grant", "nothing to do")));
  }

  @Override
  public CompletionStage<Placements> placements(Set<Integer> shards) {
    return CompletableFuture.completedFuture(
        new Placements.Known(shards.stream().sorted().map(this::placement).toList()));
  }

  @Override
  public CompletionStage<HandoffReport> handoff(HandoffOrder order) {
    orders.add(order);
    Placement current = placement(order.catalogShard());
    return CompletableFuture.completedFuture(
        switch (order) {
          case HandoffOrder.Start start when start.fromGeneration() == current.generation() ->
              new HandoffReport.Status(
                  current,
                  Optional.of(
                      new Placement(
                          start.catalogShard(), current.generation() + 1, start.members())),
                  1,
                  "PREPARED",
                  "0 of 3 owners");
          case HandoffOrder.Start _, HandoffOrder.Resume _, HandoffOrder.RollBack _ ->
              new HandoffReport.Refused(
                  new Refusal(RefusalCategory.STALE, "generation", "read it again"));
          case HandoffOrder.Show _ ->
              new HandoffReport.Status(current, Optional.empty(), 0, "", "");
        });
  }

  @Override
  public long last() {
    return changes.size();
  }

  @Override
  public Optional<List<Change>> after(long position, int max) {
    return position > changes.size()
        ? Optional.empty()
        : Optional.of(
            List.copyOf(
                changes.subList((int) position, (int) Math.min(changes.size(), position + max))));
  }

  @Override
  public void onChange(Runnable wake) {
    wakes.add(wake);
  }

  @Override
  public void removeListener(Runnable wake) {
    wakes.remove(wake);
  }

  @Override
  public Placement placement(int shard) {
    return placements.computeIfAbsent(shard, _ -> new Placement(shard, 1, List.of(node)));
  }

  @Override
  public void learn(Placement newer) {
    placements.put(newer.catalogShard(), newer);
    changes.add(new Change(changes.size() + 1, newer));
    wakes.forEach(Runnable::run);
  }

  @Override
  public void close() {
    clients.close();
    server.close();
    threads.close();
  }
}
