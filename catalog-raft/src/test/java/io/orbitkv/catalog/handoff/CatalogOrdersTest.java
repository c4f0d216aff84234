package io.orbitkv.catalog.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.placement.CatalogOrders;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class CatalogOrdersTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");

  private final SimulatedHosts hosts = new SimulatedHosts(List.of(A, B, C));
  private final CatalogOrders orders = new CatalogOrders(hosts.host(C).log, hosts::live);

  private HandoffReport order(HandoffOrder order) {
    hosts.shards.computeIfAbsent(0, _ -> new SimulatedHosts.Shard(0, List.of(A, B)));
    CompletableFuture<HandoffReport> report = orders.handoff(order).toCompletableFuture();
    while (!hosts.pending.isEmpty()) {
      hosts.pending.removeFirst().run();
    }
    return report.join();
  }

  private static RefusalCategory refused(HandoffReport report) {
    return assertInstanceOf(HandoffReport.Refused.class, report).refusal().category();
  }

  @Test
  void shouldTakeAnOrderFromAHostThatIsNoMemberAndTellItsAttempt() {
    HandoffReport.Status status =
        assertInstanceOf(
            HandoffReport.Status.class, order(new HandoffOrder.Start(0, 1, List.of(A, C))));
    assertEquals(1, status.attempt());
    assertEquals("PREPARED", status.step());
    assertEquals(List.of(A, C), status.next().orElseThrow().members());
    assertEquals(1, status.current().generation());
    assertInstanceOf(HandoffReport.Status.class, order(new HandoffOrder.Resume(0, 1)));
    assertInstanceOf(HandoffReport.Status.class, order(new HandoffOrder.RollBack(0, 1)));
    assertEquals(RefusalCategory.STALE, refused(order(new HandoffOrder.Resume(0, 1))));
  }

  @Test
  void shouldRefuseHostsThatAreNotThereAndGenerationsThatAreOver() {
    assertEquals(
        RefusalCategory.USER,
        refused(order(new HandoffOrder.Start(0, 1, List.of(A, new NodeId("x"))))));
    assertEquals(RefusalCategory.USER, refused(order(new HandoffOrder.Start(0, 2, List.of(A, C)))));
    assertEquals(RefusalCategory.USER, refused(order(new HandoffOrder.RollBack(0, 5))));
  }

  @Test
  void shouldSayThatNobodyLeads() {
    order(new HandoffOrder.Show(0));
    hosts.crash(A);
    hosts.crash(B);
    assertEquals(RefusalCategory.UNAVAILABLE, refused(order(new HandoffOrder.Show(0))));
    var placements = orders.placements(Set.of(0)).toCompletableFuture();
    hosts.pending.removeFirst().run();
    assertTrue(placements.join() instanceof CatalogAdmin.Placements.Refused);
  }
}
