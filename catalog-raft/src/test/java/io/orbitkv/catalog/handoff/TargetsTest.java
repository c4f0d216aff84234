package io.orbitkv.catalog.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.catalog.Rendezvous;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TargetsTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");
  private static final NodeId D = new NodeId("d");
  private static final Placement ABC = new Placement(5, 1, List.of(A, B, C));

  @Test
  void shouldPutAnotherInThePlaceOfWhoLeaves() {
    assertEquals(
        Optional.of(List.of(A, C, D)), Targets.without(ABC, Set.of(B), Set.of(A, B, C, D)));
  }

  @Test
  void shouldStayWhenNobodyOfTheMembersLeaves() {
    assertEquals(Optional.empty(), Targets.without(ABC, Set.of(D), Set.of(A, B, C, D)));
  }

  @Test
  void shouldGoOnWithFewerWhenNobodyElseIsThere() {
    assertEquals(Optional.of(List.of(A, C)), Targets.without(ABC, Set.of(B), Set.of(A, B, C)));
    assertEquals(Optional.empty(), Targets.without(ABC, Set.of(A, B, C), Set.of()));
  }

  @Test
  void shouldRebalanceToWhatTheHostsWouldFound() {
    List<NodeId> hosts = List.of(A, B, C, D);
    List<NodeId> best = Rendezvous.members(5, hosts, 2);
    assertEquals(Optional.of(best), Targets.rebalanced(ABC, hosts, 2));
    assertEquals(
        Optional.empty(), Targets.rebalanced(new Placement(5, 2, best.reversed()), hosts, 2));
  }
}
