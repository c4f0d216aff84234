package io.orbitkv.catalog.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogRefusal;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers of one process over real sockets and disks. */
class CatalogReplicasTest {
  private static final UUID RUN = new UUID(4, 2);

  @TempDir private Path dir;

  @Test
  void shouldFoundEveryCatalogShardWithTheSamePlacementEverywhereAndSpreadTheLeaders() {
    try (RaftHosts hosts = new RaftHosts(dir, 3, 1_024)) {
      hosts.nodes().forEach(hosts::start);
      hosts.found(CatalogShards.COUNT, 3);
      RaftHosts.await(
          "placements everywhere", () -> RaftHosts.everyShard(shard -> founded(hosts, shard)));
      for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
        List<Placement> seen = new ArrayList<>();
        for (CatalogReplicas each : hosts.all()) {
          seen.add(placement(each.local(shard)));
          seen.add(placement(Optional.of(RaftHosts.given(each.read(shard).join()))));
        }
        assertEquals(1, seen.stream().distinct().count(), seen.toString());
        assertEquals(1, seen.getFirst().generation());
      }
      RaftHosts.await(
          "leaders on all three hosts",
          () ->
              hosts.all().stream()
                  .allMatch(
                      each -> each.status().stream().anyMatch(it -> it.role().equals("LEADER"))));
    }
  }

  @Test
  void shouldAnswerCommandsFromAnyHostAndTellListenersInOrder() {
    try (RaftHosts hosts = new RaftHosts(dir, 4, 1_024)) {
      List<NodeId> nodes = hosts.nodes();
      nodes.subList(0, 3).forEach(hosts::start);
      List<CatalogView> told = Collections.synchronizedList(new ArrayList<>());
      var _ = hosts.host(nodes.get(0)).onChange(told::add);
      hosts.found(1, 3);
      hosts.awaitLeader(0);
      RaftHosts.await("a placement", () -> founded(hosts, 0));
      CatalogReplicas stranger = hosts.start(nodes.get(3));
      assertInstanceOf(LogAnswer.NotGiven.class, stranger.read(0).join());
      stranger.learn(0, nodes.subList(0, 3));
      List<CatalogAnswer> answers =
          RaftHosts.given(
              stranger
                  .propose(
                      0,
                      List.of(
                          new OpenStream(nodes.get(1), RUN, 7),
                          new FenceOwner(nodes.get(1), 8),
                          new FenceOwner(nodes.get(1), 7)))
                  .join());
      assertInstanceOf(CatalogAnswer.Accepted.class, answers.get(0));
      assertEquals(
          CatalogRefusal.UNKNOWN_RUN,
          assertInstanceOf(CatalogAnswer.Refused.class, answers.get(1)).reason());
      assertInstanceOf(CatalogAnswer.Accepted.class, answers.get(2));
      assertTrue(stranger.local(0).isEmpty());
      CatalogView view = RaftHosts.given(stranger.read(0).join());
      assertTrue(Objects.requireNonNull(view.owners().get(nodes.get(1))).fenced());
      RaftHosts.await(
          "the listener's last word", () -> !told.isEmpty() && told.getLast().equals(view));
      List<Long> positions = told.stream().map(CatalogView::position).toList();
      assertEquals(positions.stream().sorted().distinct().toList(), positions);
    }
  }

  @Test
  void shouldGoOnWithTheLeaderGoneAndRefuseWithTheMajorityGone() {
    try (RaftHosts hosts = new RaftHosts(dir, 3, 1_024)) {
      hosts.nodes().forEach(hosts::start);
      hosts.found(1, 3);
      NodeId first = hosts.awaitLeader(0);
      RaftHosts.await("a placement", () -> founded(hosts, 0));
      hosts.stop(first);
      CatalogReplicas left = hosts.all().getFirst();
      RaftHosts.await(
          "a write without the first leader",
          () ->
              left.propose(0, List.of(new OpenStream(first, RUN, 1))).join()
                  instanceof LogAnswer.Given<List<CatalogAnswer>>);
      hosts.stop(
          hosts.nodes().stream().filter(node -> hosts.isLast(node)).findFirst().orElseThrow());
      CatalogReplicas alone = hosts.all().getFirst();
      var refused =
          assertInstanceOf(
              LogAnswer.NotGiven.class,
              alone.propose(0, List.of(new OpenStream(first, RUN, 2))).join());
      assertEquals(RefusalCategory.UNAVAILABLE, refused.why().category());
      assertInstanceOf(LogAnswer.NotGiven.class, alone.read(0).join());
      assertTrue(alone.local(0).isPresent(), "what it has is told still");
      hosts.start(first);
      RaftHosts.await(
          "a write with the majority back",
          () ->
              alone.propose(0, List.of(new OpenStream(first, RUN, 3))).join()
                  instanceof LogAnswer.Given<List<CatalogAnswer>>);
    }
  }

  @Test
  void shouldHaveWhatWasAgreedAfterARestartOfAllOutOfSnapshotAndLog() {
    try (RaftHosts hosts = new RaftHosts(dir, 3, 16)) {
      hosts.nodes().forEach(hosts::start);
      hosts.found(2, 3);
      CatalogReplicas some = hosts.all().getFirst();
      RaftHosts.await("placements", () -> founded(hosts, 0) && founded(hosts, 1));
      for (long epoch = 1; epoch <= 40; epoch++) {
        RaftHosts.given(
            some.propose(0, List.of(new OpenStream(hosts.nodes().get(1), RUN, epoch))).join());
      }
      CatalogView before = RaftHosts.given(some.read(0).join());
      hosts.nodes().forEach(hosts::stop);
      hosts.nodes().forEach(hosts::start);
      hosts.awaitLeader(0);
      assertEquals(before, RaftHosts.given(hosts.all().getFirst().read(0).join()));
      assertTrue(
          hosts.all().getFirst().status().stream().allMatch(it -> it.logBytes() < 4 << 20),
          "the log was cut");
    }
  }

  @Test
  void shouldRefuseTheLogOfAnotherCluster() {
    try (RaftHosts hosts = new RaftHosts(dir, 1, 1_024)) {
      NodeId node = hosts.nodes().getFirst();
      hosts.start(node);
      hosts.found(1, 1);
      RaftHosts.await("a placement", () -> founded(hosts, 0));
      hosts.stop(node);
      IOException refused =
          assertThrows(IOException.class, () -> hosts.start(node, "another").close());
      assertTrue(
          refused.toString().contains("a log of another cluster than another"), refused.toString());
    }
  }

  @Test
  void shouldMoveACatalogShardToAnotherHostWithItsLog() {
    try (RaftHosts hosts = new RaftHosts(dir, 3, 16)) {
      hosts.nodes().forEach(hosts::start);
      hosts.found(1, 3);
      NodeId leader = hosts.awaitLeader(0);
      RaftHosts.await("a placement", () -> founded(hosts, 0));
      CatalogReplicas leading = hosts.host(leader);
      for (long epoch = 1; epoch <= 40; epoch++) {
        RaftHosts.given(leading.propose(0, List.of(new OpenStream(leader, RUN, epoch))).join());
      }
      List<NodeId> old = placement(leading.local(0)).members();
      NodeId leaving = old.stream().filter(node -> !node.equals(leader)).findFirst().orElseThrow();
      NodeId joining = hosts.add();
      CatalogReplicas joined = hosts.start(joining);
      List<NodeId> target =
          old.stream().map(node -> node.equals(leaving) ? joining : node).toList();
      RaftHosts.given(leading.propose(0, List.of(new PrepareHandoff(1, 0, target))).join());
      RaftHosts.given(leading.configure(0, old, List.of(joining)).join());
      RaftHosts.await(
          "the log at the host that joins",
          () -> joined.local(0).map(CatalogView::handoff).filter(Objects::nonNull).isPresent());
      assertEquals(
          List.of(true, true),
          RaftHosts.given(leading.propose(0, List.of(new CaughtUp(1), new CommitHandoff(1))).join())
              .stream()
              .map(CatalogAnswer.Accepted.class::isInstance)
              .toList());
      assertTrue(RaftHosts.given(leading.configure(0, target, List.of()).join()));
      assertTrue(!RaftHosts.given(leading.configure(0, target, List.of()).join()), "done already");
      RaftHosts.given(leading.propose(0, List.of(new RetireHandoff(1))).join());
      RaftHosts.await(
          "the host that joined has it all", () -> joined.local(0).equals(leading.local(0)));
      RaftHosts.await(
          "the host that left has nothing", () -> hosts.host(leaving).local(0).isEmpty());
      hosts.stop(leaving);
      assertEquals(
          new Placement(0, 2, target),
          placement(Optional.of(RaftHosts.given(joined.read(0).join()))));
    }
  }

  private static boolean founded(RaftHosts hosts, int shard) {
    return hosts.all().stream()
        .allMatch(each -> each.local(shard).map(CatalogView::placement).isPresent());
  }

  private static Placement placement(Optional<CatalogView> view) {
    return Objects.requireNonNull(view.orElseThrow().placement());
  }
}
