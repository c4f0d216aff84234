package io.orbitkv.catalog.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.stub.StreamObserver;
import io.orbitkv.catalog.calls.CircuitBreaker;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.InventoryAnnouncer;
import io.orbitkv.catalog.inventory.NamespaceScope;
import io.orbitkv.catalog.inventory.OwnInventory;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.catalog.lookup.Answer;
import io.orbitkv.catalog.lookup.Question;
import io.orbitkv.catalog.peer.PeerStats.Side;
import io.orbitkv.catalog.peer.proto.InventoryFrom;
import io.orbitkv.catalog.peer.proto.SubscribeRequest;
import io.orbitkv.catalog.peer.proto.SubscriptionEvent;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls between two hosts over loopback. */
class PeerCallsTest {
  private static final Duration SECONDS = Duration.ofSeconds(5);
  private static final PeerSecurity TOKEN =
      new PeerSecurity(Optional.of("a-token-of-some-length"), Optional.empty());
  private static final PeerLimits SMALL =
      new PeerLimits(
          2, 100_000, 2, 100_000, SECONDS, 3, Duration.ofMillis(50), Duration.ofMillis(200));

  private final TestHost a;
  private final TestHost b;

  PeerCallsTest() throws IOException {
    a = new TestHost("a", TOKEN, SMALL);
    b = new TestHost("b", TOKEN, SMALL);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
  }

  private static StateKey key(int n) {
    byte[] hash = ByteBuffer.allocate(4).putInt(n).array();
    return new StateKey(new Namespace("m"), 0, BlockHash.read(hash, 0, 4));
  }

  private GrantRequest request(UUID runtime, int blocks) {
    List<GrantRequest.Wanted> wanted =
        java.util.stream.IntStream.range(0, blocks)
            .mapToObj(i -> new GrantRequest.Wanted(key(i), Tier.DRAM, 7 + i))
            .toList();
    return new GrantRequest(a.run, runtime, new Namespace("m"), "f", wanted, SECONDS);
  }

  private static <T> T reached(PeerAnswer<T> answer) {
    return switch (answer) {
      case PeerAnswer.Reached<T>(T value) -> value;
      case PeerAnswer.Failed<T>(Refusal refusal) -> throw new AssertionError(refusal);
    };
  }

  private static Refusal failed(PeerAnswer<?> answer) {
    return assertInstanceOf(PeerAnswer.Failed.class, answer).refusal();
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, what);
      Thread.sleep(5);
    }
  }

  @Test
  void shouldGrantExactBlocksAndTakeThemBack() {
    GrantRequest request = request(b.run.runtime(), 2);
    GrantAnswer answer = reached(a.to(b).authorize(request, SECONDS).join());
    GrantAnswer.Granted granted = assertInstanceOf(GrantAnswer.Granted.class, answer);
    assertEquals(List.of(request), b.pinned);
    assertEquals(
        new GrantAnswer.BlockOutcome.Given(List.of(new GrantAnswer.SliceRange(0, 4096, 8192, -3))),
        granted.blocks().get(0));
    assertInstanceOf(GrantAnswer.BlockOutcome.NotGiven.class, granted.blocks().get(1));

    GrantRelease release = new GrantRelease(a.run, granted.grantId(), true, "read");
    assertEquals(Optional.empty(), reached(a.to(b).release(release, SECONDS).join()));
    assertEquals(
        RefusalCategory.STALE,
        reached(a.to(b).release(release, SECONDS).join()).orElseThrow().category());
  }

  @Test
  void shouldRefuseAnotherRuntimeAndAForgedRequester() {
    GrantAnswer answer = reached(a.to(b).authorize(request(UUID.randomUUID(), 1), SECONDS).join());
    assertEquals(
        RefusalCategory.STALE,
        assertInstanceOf(GrantAnswer.Refused.class, answer).refusal().category());
    GrantRequest forged =
        new GrantRequest(
            b.run,
            b.run.runtime(),
            new Namespace("m"),
            "f",
            request(b.run.runtime(), 1).blocks(),
            SECONDS);
    Refusal refusal = failed(a.to(b).authorize(forged, SECONDS).join());
    assertTrue(refusal.reason().contains("a speaks for b"), refusal.reason());
    assertEquals(List.of(), b.pinned);
  }

  @Test
  void shouldRefuseAndCountAPeerWithoutTheToken() throws IOException {
    try (TestHost none = new TestHost("c", PeerSecurity.NONE, SMALL);
        TestHost wrong =
            new TestHost(
                "d",
                new PeerSecurity(Optional.of("another-token-of-length"), Optional.empty()),
                SMALL)) {
      for (TestHost stranger : List.of(none, wrong)) {
        Refusal refusal = failed(stranger.to(b).placements(Set.of(), SECONDS).join());
        assertEquals(RefusalCategory.USER, refusal.category());
        assertTrue(refusal.reason().contains("UNAUTHENTICATED"), refusal.reason());
      }
      assertEquals(2, b.stats.total(Side.SERVER, "UNAUTHENTICATED"));
    }
  }

  @Test
  void shouldKeepToBudgetsOnBothSides() throws Exception {
    try (TestHost generous = new TestHost("c", TOKEN, PeerLimits.DEFAULT)) {
      b.gate = new CompletableFuture<>();
      GrantRequest request =
          new GrantRequest(
              generous.run,
              b.run.runtime(),
              new Namespace("m"),
              "f",
              request(b.run.runtime(), 1).blocks(),
              SECONDS);
      var one = generous.to(b).authorize(request, SECONDS);
      var two = generous.to(b).authorize(request, SECONDS);
      // They may reach a server in another order than they were made in.
      await("both grants asked for", () -> b.asked.get() == 2);
      Refusal server = failed(generous.to(b).authorize(request, SECONDS).join());
      assertEquals(RefusalCategory.RESOURCE, server.category());
      assertEquals(1, b.stats.total(Side.SERVER, "RESOURCE_EXHAUSTED"));

      var three = a.to(b).authorize(request(b.run.runtime(), 1), SECONDS);
      var four = a.to(b).authorize(request(b.run.runtime(), 1), SECONDS);
      Refusal client = failed(a.to(b).authorize(request(b.run.runtime(), 1), SECONDS).join());
      assertEquals(RefusalCategory.RESOURCE, client.category());
      assertEquals(1, a.stats.total(Side.CLIENT, "NOT_SENT"));
      b.gate.complete(true);
      List.of(one, two, three, four).forEach(call -> reached(call.join()));
    }
  }

  @Test
  void shouldRefuseMessagesThatAreTooLong() {
    Refusal refusal = failed(a.to(b).authorize(request(b.run.runtime(), 4000), SECONDS).join());
    assertEquals(RefusalCategory.RESOURCE, refusal.category());
    try (TestHost generous = new TestHost("c", TOKEN, PeerLimits.DEFAULT)) {
      GrantRequest request =
          new GrantRequest(
              generous.run,
              b.run.runtime(),
              new Namespace("m".repeat(200)),
              "f".repeat(200_000),
              request(b.run.runtime(), 1).blocks(),
              SECONDS);
      assertEquals(
          RefusalCategory.RESOURCE,
          failed(generous.to(b).authorize(request, SECONDS).join()).category());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldGiveUpAtTheDeadlineAndLeaveASilentPeerAlone() throws InterruptedException {
    b.gate = new CompletableFuture<>();
    for (int i = 0; i < 2; i++) {
      long began = System.nanoTime();
      Refusal refusal =
          failed(a.to(b).authorize(request(b.run.runtime(), 1), Duration.ofMillis(100)).join());
      assertTrue(refusal.reason().contains("DEADLINE_EXCEEDED"), refusal.reason());
      assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(3));
    }
    b.gate.complete(true);
    b.server.close();
    await(
        "the breaker stays closed",
        () -> {
          a.to(b).placements(Set.of(), SECONDS).join();
          return a.to(b).breaker() == CircuitBreaker.State.OPEN;
        });
    assertTrue(failed(a.to(b).placements(Set.of(), SECONDS).join()).reason().contains("lately"));
  }

  @Test
  void shouldComeBackToAPeerThatCameBack() throws IOException, InterruptedException {
    reached(a.to(b).placements(Set.of(1), SECONDS).join());
    int port = b.server.port();
    b.server.close();
    await(
        "calls still succeed",
        () -> a.to(b).placements(Set.of(), SECONDS).join() instanceof PeerAnswer.Failed);
    b.server = b.listen(port);
    long began = System.nanoTime();
    await(
        "calls still fail",
        () -> a.to(b).placements(Set.of(), SECONDS).join() instanceof PeerAnswer.Reached);
    assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(5));
    assertEquals(CircuitBreaker.State.CLOSED, a.to(b).breaker());
  }

  @Test
  void shouldCarryOrdersAndPlacements() {
    Placement placement = new Placement(3, 1, List.of(b.node));
    assertEquals(
        new CatalogAdmin.Placements.Known(List.of(placement)),
        reached(a.to(b).placements(Set.of(3), SECONDS).join()));
    HandoffOrder.Start start = new HandoffOrder.Start(3, 1, List.of(a.node, b.node));
    assertEquals(
        new HandoffReport.Status(
            placement,
            Optional.of(new Placement(3, 2, List.of(a.node, b.node))),
            1,
            "PREPARED",
            "0 of 3 owners"),
        reached(a.to(b).handoff(start, SECONDS).join()));
    for (HandoffOrder order :
        List.of(
            new HandoffOrder.Show(3),
            new HandoffOrder.Resume(3, 9),
            new HandoffOrder.RollBack(3, 9))) {
      HandoffReport report = reached(a.to(b).handoff(order, SECONDS).join());
      assertEquals(order instanceof HandoffOrder.Show, report instanceof HandoffReport.Status);
    }
    assertEquals(4, b.orders.size());
  }

  @Test
  void shouldSendInventoriesAnswerQuestionsAndTellSubscribers() throws InterruptedException {
    StateKey key = key(1);
    int shard = CatalogShards.of(key);
    b.receiver.serve(shard);
    OwnInventory inventory = new OwnInventory(1, 1024, NamespaceScope.ALL);
    inventory.sealed(2, key, Tier.DRAM, 9, 5000);
    inventory.advance(2);
    try (InventoryAnnouncer announcer =
        new InventoryAnnouncer(a.run, inventory, a.clients, new Random(1), System::nanoTime)) {
      announcer.start();
      announcer.announce(shard, Set.of(b.node));
      Question question = new Question(shard, 1, List.of(Fingerprint.of(key)), 4);
      Candidate candidate = new Candidate(a.run, Tier.DRAM, 9, 5120);
      Answer expected = new Answer.Found(List.of(List.of(candidate)), true);
      await("the row is not seen", () -> a.to(b).lookup(question, SECONDS).join().equals(expected));

      BlockingQueue<SubscriptionEvent> events = new LinkedBlockingQueue<>();
      Runnable end = a.to(b).subscribe(subscription(shard), collect(events));
      SubscriptionEvent rows = next(events);
      assertEquals(33, rows.getRows().getRows().size());
      assertTrue(next(events).hasRowsEnd());
      inventory.removed(3, key, Tier.DRAM, 9);
      inventory.advance(3);
      SubscriptionEvent changed = next(events);
      assertEquals(3, changed.getChanged().getThrough());
      b.learn(new Placement(5, 2, List.of(new NodeId("x"))));
      SubscriptionEvent placement = next(events);
      assertEquals(2, placement.getPlacement().getPlacement().getGeneration());
      Answer gone = new Answer.Found(List.of(List.of()), true);
      assertEquals(gone, a.to(b).lookup(question, SECONDS).join());
      end.run();
      await("the subscription goes on", () -> b.wakes.isEmpty());

      BlockingQueue<SubscriptionEvent> later = new LinkedBlockingQueue<>();
      SubscribeRequest old =
          SubscribeRequest.newBuilder()
              .addInventories(
                  InventoryFrom.newBuilder()
                      .setCatalogShard(shard)
                      .setAfter(1)
                      .setReplicaRuntime(Protos.bytes(new UUID(1, 2))))
              .build();
      end = a.to(b).subscribe(old, collect(later));
      assertTrue(next(later).hasInventoryGap(), "numbers of another run");
      end.run();
    }
  }

  private static SubscribeRequest subscription(int shard) {
    return SubscribeRequest.newBuilder()
        .setPlacementsAfter(0)
        .addInventories(InventoryFrom.newBuilder().setCatalogShard(shard).setRowsFirst(true))
        .build();
  }

  private static SubscriptionEvent next(BlockingQueue<SubscriptionEvent> events)
      throws InterruptedException {
    SubscriptionEvent event = events.poll(10, TimeUnit.SECONDS);
    if (event == null) {
      throw new AssertionError("no event");
    }
    return event;
  }

  private static StreamObserver<SubscriptionEvent> collect(
      BlockingQueue<SubscriptionEvent> events) {
    return new StreamObserver<>() {
      @Override
      public void onNext(SubscriptionEvent event) {
        events.add(event);
      }

      @Override
      public void onError(Throwable failure) {}

      @Override
      public void onCompleted() {}
    };
  }
}
