package io.orbitkv.catalog.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class DeadMembersTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");
  private static final NodeId D = new NodeId("d");
  private static final NodeId E = new NodeId("e");

  private final SimulatedHosts hosts = new SimulatedHosts(List.of(A, B, C, D, E));
  private final DeadMembers dead =
      new DeadMembers(hosts.host(A).log, Duration.ofSeconds(30), 1, () -> hosts.nanos);

  /** Looks after so many seconds; gives how many handoffs were asked for. */
  private int lookAfter(int seconds, NodeId... live) {
    hosts.nanos += Duration.ofSeconds(seconds).toNanos();
    dead.step(Set.of(live));
    int asked = hosts.pending.size();
    while (!hosts.pending.isEmpty()) {
      hosts.pending.removeFirst().run();
    }
    hosts.shards.values().forEach(it -> it.applied.replaceAll((_, _) -> it.history.size() - 1));
    return asked;
  }

  @Test
  void shouldReplaceWhoIsGoneForLong() {
    hosts.found(0, List.of(A, B, C));
    assertEquals(0, lookAfter(0, A, B, D));
    assertEquals(0, lookAfter(29, A, B, D));
    assertEquals(1, lookAfter(1, A, B, D));
    Handoff handoff = hosts.shard(0).now().handoff();
    assertNotNull(handoff);
    assertEquals(List.of(A, B, D), handoff.target());
  }

  @Test
  void shouldMoveNothingForAHostThatComesAndGoes() {
    hosts.found(0, List.of(A, B, C));
    for (int i = 0; i < 10; i++) {
      assertEquals(0, lookAfter(20, A, B, D));
      assertEquals(0, lookAfter(20, A, B, C, D));
    }
  }

  @Test
  void shouldTakeNobodyThatHasNotBeenThereAsLong() {
    hosts.found(0, List.of(A, B, C));
    assertEquals(0, lookAfter(0, A, B));
    assertEquals(0, lookAfter(40, A, B, D));
    assertEquals(0, lookAfter(20, A, B));
    assertEquals(0, lookAfter(20, A, B, D));
    assertEquals(1, lookAfter(30, A, B, D));
  }

  @Test
  void shouldDoNothingWithoutAMajority() {
    hosts.found(0, List.of(A, B, C));
    assertEquals(0, lookAfter(0, A, D, E));
    assertEquals(0, lookAfter(60, A, D, E));
    assertEquals(1, lookAfter(60, A, B, D, E));
  }

  @Test
  void shouldOrderOneAtATime() {
    hosts.found(0, List.of(A, B, C));
    hosts.found(1, List.of(A, C, D));
    assertEquals(0, lookAfter(0, A, B, D, E));
    assertEquals(1, lookAfter(30, A, B, D, E));
    assertEquals(0, lookAfter(30, A, B, D, E));
  }

  @Test
  void shouldNotMakeFewerMembersOfThem() {
    hosts.found(0, List.of(A, B, C));
    assertEquals(0, lookAfter(0, A, B));
    assertEquals(0, lookAfter(60, A, B));
  }
}
