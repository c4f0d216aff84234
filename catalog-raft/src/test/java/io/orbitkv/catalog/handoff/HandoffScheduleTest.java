package io.orbitkv.catalog.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.placement.CatalogOrders;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Handoffs under everything that may happen, in an order drawn from a seed: orders of operators,
 * hosts that die at any point and come back, leaders that change and do not hear of it, calls that
 * are lost, delayed, reordered, done twice or done unheard. {@link SimulatedHosts} checks each
 * command; once all is quiet, every handoff must be over and the voters be the placement's members.
 *
 * <p>Repeat one: {@code -Dorbitkv.handoff.seed=SEED}, as the failure says.
 */
final class HandoffScheduleTest {
  private static final int SCHEDULES = 600;
  private static final int STEPS = 400;
  private static final int SHARDS = 2;
  private static final Duration GONE_AFTER = Duration.ofSeconds(10);
  private static final List<NodeId> NODES =
      List.of("a", "b", "c", "d", "e", "f").stream().map(NodeId::new).toList();

  @Test
  void shouldKeepPlacementsWholeWhateverHappens() {
    Long only = Long.getLong("orbitkv.handoff.seed");
    long first = only == null ? System.nanoTime() : only;
    Sum sum = new Sum();
    for (int i = 0; i < (only == null ? SCHEDULES : 1); i++) {
      long seed = first + i;
      try {
        new Schedule(seed).run(sum);
      } catch (AssertionError | RuntimeException failed) {
        throw new AssertionError(
            ("seed %d; repeat: ./mvnw test -pl catalog-raft -am -Dtest=HandoffScheduleTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dorbitkv.handoff.seed=%d")
                .formatted(seed, seed),
            failed);
      }
    }
    if (only == null) {
      assertTrue(sum.moved > SCHEDULES / 2, sum::toString);
      assertTrue(sum.givenUp > SCHEDULES / 10, sum::toString);
      assertTrue(sum.replaced > 0, sum::toString);
    }
  }

  /** What schedules came to, so that they cannot all come to nothing unnoticed. */
  private static final class Sum {
    long moved;
    long givenUp;
    long replaced;

    @Override
    public String toString() {
      return moved + " moved, " + givenUp + " given up, " + replaced + " ordered for the dead";
    }
  }

  /** One schedule. */
  private static final class Schedule {
    private final Random random;
    private final SimulatedHosts cluster = new SimulatedHosts(NODES);
    private final Map<NodeId, HandoffDriver> drivers = new TreeMap<>();
    private final Map<NodeId, DeadMembers> dead = new TreeMap<>();
    private long replaced;

    Schedule(long seed) {
      random = new Random(seed);
      for (int shard = 0; shard < SHARDS; shard++) {
        cluster.found(shard, some(1 + random.nextInt(3)));
      }
      NODES.forEach(this::begin);
    }

    /** A host's process begins anew. */
    private void begin(NodeId node) {
      SimulatedHosts.Host host = cluster.host(node);
      drivers.put(
          node,
          new HandoffDriver(
              host.log,
              (asked, shard, _) -> cluster.isWhole(host, asked, shard),
              new HandoffDriver.Limits(Duration.ofSeconds(60), 1),
              () -> cluster.nanos));
      dead.put(node, new DeadMembers(host.log, GONE_AFTER, 2, () -> cluster.nanos));
    }

    private HandoffDriver driver(NodeId node) {
      return Objects.requireNonNull(drivers.get(node), "no such host");
    }

    private DeadMembers dead(NodeId node) {
      return Objects.requireNonNull(dead.get(node), "no such host");
    }

    void run(Sum sum) {
      for (int i = 0; i < STEPS; i++) {
        happen();
      }
      quiet();
      for (SimulatedHosts.Shard shard : cluster.shards.values()) {
        sum.moved += shard.placement().generation() - 1;
        sum.givenUp += shard.now().lastAttempt() - (shard.placement().generation() - 1);
      }
      sum.replaced += replaced;
    }

    private void happen() {
      cluster.nanos += random.nextLong(1_000_000_000L);
      NodeId node = NODES.get(random.nextInt(NODES.size()));
      SimulatedHosts.Shard shard = cluster.shard(random.nextInt(SHARDS));
      switch (random.nextInt(20)) {
        case 0 -> order(node);
        case 1 -> {
          if (random.nextInt(4) == 0) {
            crash(node);
          }
        }
        case 2 -> {
          if (!cluster.host(node).up) {
            cluster.restart(node);
            begin(node);
          }
        }
        case 3 -> {
          if (random.nextInt(3) == 0) {
            cluster.elect(shard, node);
          }
        }
        case 4 -> cluster.tellDeposed(shard);
        case 5, 6 -> cluster.apply(shard, node);
        case 7, 8 -> cluster.stream(shard, node);
        case 9 -> {
          if (cluster.host(node).up) {
            int before = cluster.pending.size();
            dead(node).step(cluster.live());
            replaced += cluster.pending.size() - before;
          }
        }
        case 10, 11, 12, 13 -> {
          if (cluster.host(node).up) {
            driver(node).step();
          }
        }
        default -> call();
      }
    }

    /** One of the calls that wait, not always the oldest, is done one way or the other. */
    private void call() {
      if (cluster.pending.isEmpty()) {
        return;
      }
      int which = random.nextInt(3) == 0 ? random.nextInt(cluster.pending.size()) : 0;
      SimulatedHosts.Call<?> call = cluster.pending.remove(which);
      switch (random.nextInt(12)) {
        case 0 -> call.lose();
        case 1 -> call.runUnheard();
        case 2 -> call.runTwice();
        default -> call.run();
      }
    }

    private void order(NodeId node) {
      SimulatedHosts.Host host = cluster.host(node);
      if (!host.up) {
        return;
      }
      int shard = random.nextInt(SHARDS);
      CatalogView now = cluster.shard(shard).now();
      Placement placement = cluster.shard(shard).placement();
      Handoff open = now.handoff();
      CatalogOrders orders = new CatalogOrders(host.log, cluster::live);
      var _ =
          open != null && random.nextInt(3) == 0
              ? orders.handoff(new HandoffOrder.RollBack(shard, open.attempt()))
              : orders.handoff(
                  new HandoffOrder.Start(
                      shard, placement.generation(), some(1 + random.nextInt(3))));
    }

    /** A host dies, unless it is the last one that has what somebody may be asked for. */
    private void crash(NodeId node) {
      for (SimulatedHosts.Shard shard : cluster.shards.values()) {
        Handoff handoff = shard.now().handoff();
        if (isLast(shard, shard.placement().members(), node)
            || (handoff != null && isLast(shard, handoff.target(), node))) {
          return;
        }
      }
      cluster.crash(node);
    }

    private static boolean isLast(SimulatedHosts.Shard shard, List<NodeId> members, NodeId node) {
      Set<NodeId> whole = new TreeSet<>(members);
      whole.retainAll(shard.whole);
      return whole.equals(Set.of(node));
    }

    private List<NodeId> some(int number) {
      List<NodeId> nodes = new ArrayList<>(NODES);
      Collections.shuffle(nodes, random);
      return nodes.subList(0, number);
    }

    /** All hosts come back, nothing is lost any more. */
    private void quiet() {
      for (NodeId node : NODES) {
        if (!cluster.host(node).up) {
          cluster.restart(node);
          begin(node);
        }
      }
      for (int round = 0; round < 40; round++) {
        cluster.nanos += Duration.ofMillis(100).toNanos();
        for (SimulatedHosts.Shard shard : cluster.shards.values()) {
          if (!cluster.isLed(shard)) {
            cluster.elect(shard, null);
          }
          cluster.tellDeposed(shard);
          shard.applied.replaceAll((_, _) -> shard.history.size() - 1);
          NODES.forEach(node -> cluster.stream(shard, node));
        }
        drivers.values().forEach(HandoffDriver::step);
        while (!cluster.pending.isEmpty()) {
          cluster.pending.removeFirst().run();
        }
      }
      for (SimulatedHosts.Shard shard : cluster.shards.values()) {
        assertNull(shard.now().handoff());
        assertEquals(Set.copyOf(shard.placement().members()), shard.voters);
        assertEquals(Set.of(), shard.learners);
        assertTrue(shard.whole.containsAll(shard.placement().members()));
      }
    }
  }
}
