package io.orbitkv.catalog.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class HandoffDriverTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");
  private static final NodeId D = new NodeId("d");
  private static final NodeId E = new NodeId("e");
  private static final int SHARD = 3;
  private static final HandoffDriver.Limits LIMITS =
      new HandoffDriver.Limits(Duration.ofSeconds(60), 1);

  private final SimulatedHosts hosts = new SimulatedHosts(List.of(A, B, C, D, E));

  @BeforeEach
  void found() {
    hosts.found(SHARD, List.of(A, B, C));
  }

  private HandoffDriver driver(NodeId node) {
    SimulatedHosts.Host host = hosts.host(node);
    return new HandoffDriver(
        host.log,
        (asked, shard, _) -> hosts.isWhole(host, asked, shard),
        LIMITS,
        () -> hosts.nanos);
  }

  private void prepare(int shard, List<NodeId> target) {
    CatalogView now = hosts.shard(shard).now();
    var _ =
        hosts
            .host(A)
            .log
            .propose(
                shard,
                List.of(
                    new CatalogCommand.PrepareHandoff(
                        hosts.shard(shard).placement().generation(), now.lastAttempt(), target)));
    settle();
  }

  /** Does all that waits and has all replicas apply it. */
  private void settle() {
    while (!hosts.pending.isEmpty()) {
      hosts.pending.removeFirst().run();
    }
    applyAll();
  }

  private void applyAll() {
    for (SimulatedHosts.Shard shard : hosts.shards.values()) {
      shard.applied.replaceAll((_, _) -> shard.history.size() - 1);
    }
  }

  private void streamAll() {
    for (SimulatedHosts.Shard shard : hosts.shards.values()) {
      hosts.hosts.keySet().forEach(node -> hosts.stream(shard, node));
    }
  }

  private CatalogView now() {
    return hosts.shard(SHARD).now();
  }

  private Handoff.Step step() {
    Handoff handoff = now().handoff();
    assertNotNull(handoff);
    return handoff.step();
  }

  private void assertMoved(List<NodeId> members) {
    SimulatedHosts.Shard shard = hosts.shard(SHARD);
    assertNull(now().handoff());
    assertEquals(2, shard.placement().generation());
    assertEquals(members, shard.placement().members());
    assertEquals(Set.copyOf(members), shard.voters);
    assertEquals(Set.of(), shard.learners);
  }

  @Test
  void shouldWaitUntilTheTableOfWhoJoinsIsWhole() {
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    for (int i = 0; i < 5; i++) {
      driver.step();
      settle();
    }
    assertEquals(Handoff.Step.PREPARED, step());
    assertEquals(Set.of(D), hosts.shard(SHARD).learners);
    streamAll();
    for (int i = 0; i < 3; i++) {
      driver.step();
      settle();
    }
    driver.step();
    settle();
    assertMoved(List.of(A, B, D));
  }

  @Test
  void shouldNotCommitWhenWhoJoinsHasLostItsTableSince() {
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    streamAll();
    driver.step();
    settle();
    assertEquals(Handoff.Step.CAUGHT_UP, step());
    hosts.crash(D);
    hosts.restart(D);
    driver.step();
    settle();
    assertEquals(Handoff.Step.CAUGHT_UP, step());
  }

  @Test
  void shouldNotLeaveTheCatalogShardToAMemberThatHasLostItsTable() {
    HandoffDriver driver = driver(A);
    hosts.crash(B);
    hosts.restart(B);
    prepare(SHARD, List.of(B));
    driver.step();
    settle();
    assertEquals(Handoff.Step.PREPARED, step());
    streamAll();
    driver.step();
    settle();
    assertEquals(Handoff.Step.CAUGHT_UP, step());
  }

  @Test
  void shouldGiveUpAnAttemptThatStandsStillAndLetTheLearnerGo() {
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    driver.step();
    settle();
    hosts.crash(D);
    hosts.nanos += Duration.ofSeconds(61).toNanos();
    driver.step();
    settle();
    assertNull(now().handoff());
    driver.step();
    settle();
    assertEquals(Set.of(A, B, C), hosts.shard(SHARD).voters);
    assertEquals(Set.of(), hosts.shard(SHARD).learners);
    assertEquals(1, hosts.shard(SHARD).placement().generation());
  }

  @Test
  void shouldNeverGiveUpWhatIsCommitted() {
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    streamAll();
    for (int i = 0; i < 2; i++) {
      driver.step();
      settle();
    }
    assertEquals(Handoff.Step.COMMITTED, step());
    hosts.nanos += Duration.ofHours(1).toNanos();
    driver.step();
    settle();
    assertMoved(List.of(A, B, D));
  }

  @Test
  void shouldUndoWhatALeaderThatWasDeposedConfiguredLate() {
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    streamAll();
    driver.step();
    SimulatedHosts.Call<?> late = hosts.pending.removeFirst();
    assertTrue(late.toString().contains("configure"), late.toString());
    SimulatedHosts.Shard shard = hosts.shard(SHARD);
    hosts.elect(shard, B);
    hosts.tellDeposed(shard);
    HandoffDriver next = driver(B);
    for (int i = 0; i < 4; i++) {
      next.step();
      settle();
    }
    assertMoved(List.of(A, B, D));
    late.run();
    assertEquals(Set.of(A, B, C), shard.voters);
    next.step();
    settle();
    assertMoved(List.of(A, B, D));
  }

  @Test
  void shouldDoOneAtATimeWhenToldSo() {
    hosts.found(SHARD + 1, List.of(A, B, C));
    HandoffDriver driver = driver(A);
    prepare(SHARD, List.of(A, B, D));
    prepare(SHARD + 1, List.of(A, B, E));
    driver.step();
    settle();
    assertEquals(Set.of(D), hosts.shard(SHARD).learners);
    assertEquals(Set.of(), hosts.shard(SHARD + 1).learners);
    streamAll();
    for (int i = 0; i < 8; i++) {
      driver.step();
      settle();
    }
    assertMoved(List.of(A, B, D));
    assertEquals(List.of(A, B, E), hosts.shard(SHARD + 1).placement().members());
  }

  @Test
  void shouldBeResumedByAnotherHostWhereverTheFirstOneDies() {
    for (List<NodeId> target : List.of(List.of(B, C, D), List.of(D, E), List.of(B))) {
      for (int deaths = 0; deaths < 12; deaths++) {
        for (boolean done : new boolean[] {false, true}) {
          dieAfter(deaths, done, target);
        }
      }
    }
  }

  /** The host that leads dies when it has asked for so many things; the last one is done or not. */
  private void dieAfter(int calls, boolean done, List<NodeId> target) {
    hosts.pending.clear();
    hosts.hosts.keySet().forEach(hosts::restart);
    hosts.found(SHARD, List.of(A, B, C));
    prepare(SHARD, target);
    HandoffDriver first = driver(A);
    int made = 0;
    for (int i = 0; i < 20 && made <= calls; i++) {
      streamAll();
      if (hosts.pending.isEmpty()) {
        first.step();
      }
      if (hosts.pending.isEmpty()) {
        break; // it leads no more
      }
      SimulatedHosts.Call<?> call = hosts.pending.removeFirst();
      if (made++ < calls) {
        call.run();
        applyAll();
      } else if (done) {
        call.runUnheard();
      }
    }
    hosts.pending.clear();
    hosts.crash(A);
    for (int i = 0; i < 12; i++) {
      streamAll();
      SimulatedHosts.Shard shard = hosts.shard(SHARD);
      if (!hosts.isLed(shard)) {
        hosts.elect(shard, null);
      }
      driver(shard.leader).step();
      settle();
    }
    assertMoved(target);
  }
}
