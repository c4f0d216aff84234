package io.orbitkv.catalog.bench;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.inventory.InventoryAnnouncer;
import io.orbitkv.catalog.inventory.NamespaceScope;
import io.orbitkv.catalog.inventory.OwnInventory;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.SenderStatus;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.catalog.peer.PeerClients;
import io.orbitkv.catalog.peer.PeerLimits;
import io.orbitkv.catalog.peer.PeerSecurity;
import io.orbitkv.catalog.peer.PeerStats;
import io.orbitkv.catalog.peer.PeerThreads;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * An owner process: tells its inventory so many changes a second, two seals for each removal until
 * it holds {@value #HELD_ROWS} rows, then one for one. At the end it waits until the replica has
 * everything and prints its rows.
 */
public final class BenchOwner {
  private static final int HELD_ROWS = 20_000;
  private static final long TICK_NANOS = 1_000_000;
  private static final long PATIENCE_NANOS = 20_000_000_000L;

  private BenchOwner() {}

  /** Runs: node, port of the replica, changes a second, seconds. */
  public static void main(String[] args) {
    NodeId node = new NodeId(args[0]);
    Endpoint endpoint = new Endpoint("127.0.0.1", Integer.parseInt(args[1]));
    int rate = Integer.parseInt(args[2]);
    int seconds = Integer.parseInt(args[3]);
    OwnInventory inventory = new OwnInventory(0, OwnInventory.DEFAULT_CHANGES, NamespaceScope.ALL);
    OwnerRun run = new OwnerRun(node, UUID.randomUUID(), 1);
    NodeId replica = new NodeId("replica");
    try (PeerThreads threads = new PeerThreads(1);
        PeerClients clients =
            new PeerClients(
                node,
                _ -> Optional.of(endpoint),
                PeerSecurity.NONE,
                PeerLimits.DEFAULT,
                new PeerStats(),
                threads,
                new Random(1),
                System::nanoTime);
        InventoryAnnouncer announcer =
            new InventoryAnnouncer(run, inventory, clients, new Random(2), System::nanoTime)) {
      for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
        announcer.announce(shard, Set.of(replica));
      }
      announcer.start();
      awaitViews(announcer, 0);
      long rows = tell(node, inventory, rate, seconds);
      awaitViews(announcer, inventory.position());
      System.out.println(rows);
    }
  }

  private record Held(StateKey key, long generation) {}

  private static long tell(NodeId node, OwnInventory inventory, int rate, int seconds) {
    Namespace namespace = new Namespace("bench-" + node);
    ArrayDeque<Held> held = new ArrayDeque<>();
    long began = System.nanoTime();
    long changes = (long) rate * seconds;
    long next = 0;
    for (long position = 1; position <= changes; position++) {
      long due = began + position * 1_000_000_000L / rate;
      while (System.nanoTime() - due < 0) {
        if (next < position - 1) {
          next = position - 1;
          inventory.advance(next);
        }
        LockSupport.parkNanos(Math.min(TICK_NANOS, due - System.nanoTime()));
      }
      boolean remove = position % (held.size() < HELD_ROWS ? 3 : 2) == 0 && !held.isEmpty();
      long now = System.nanoTime();
      if (remove) {
        inventory.removed(position, held.removeFirst().key(), Tier.DRAM, now);
      } else {
        byte[] hash = ByteBuffer.allocate(8).putLong(position).array();
        StateKey key = new StateKey(namespace, 0, BlockHash.read(hash, 0, hash.length));
        inventory.sealed(position, key, Tier.DRAM, now, 65_536);
        held.addLast(new Held(key, now));
      }
      inventory.advance(position);
      next = position;
    }
    return held.size();
  }

  private static void awaitViews(InventoryAnnouncer announcer, long position) {
    long began = System.nanoTime();
    while (!announcer.status().stream().allMatch(status -> isAt(status, position))) {
      if (System.nanoTime() - began > PATIENCE_NANOS) {
        throw new IllegalStateException("the replica is behind: " + announcer.status());
      }
      LockSupport.parkNanos(TICK_NANOS);
    }
  }

  private static boolean isAt(SenderStatus status, long position) {
    return status.acknowledged().orElse(-1) >= position;
  }
}
