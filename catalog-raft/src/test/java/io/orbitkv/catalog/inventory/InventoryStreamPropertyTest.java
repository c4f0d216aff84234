package io.orbitkv.catalog.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.StateKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Owners, replicas and a network that drops, repeats, reorders and cuts, against a literal model.
 * At every moment each view that lookups see is exactly what its owner had at the view's position;
 * and when the faults end, every replica has what the owners have.
 */
class InventoryStreamPropertyTest {
  private static final int SHARDS = 2;

  @Test
  void shouldNeverLoseOrResurrectARow() {
    int seeds = Boolean.getBoolean("orbitkv.long") ? 5000 : 150;
    String only = System.getProperty("orbitkv.seed");
    for (int i = 1; i <= seeds; i++) {
      long seed = only == null ? i : Long.parseLong(only);
      try {
        new World(seed).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "seed %d; repeat: ./orbitkv test catalog-raft -Dtest='InventoryStreamPropertyTest' -Dorbitkv.seed=%d"
                .formatted(seed, seed),
            e);
      }
      if (only != null) {
        return;
      }
    }
  }

  private static final class World {
    final SplittableRandom random;
    final List<Link> links = new ArrayList<>();
    final Map<NodeId, InventoryReceiver> replicas = new TreeMap<>();
    final List<Host> owners = new ArrayList<>();
    long nanos = 1;
    boolean faults = true;

    World(long seed) {
      random = new SplittableRandom(seed);
      for (int i = 0; i < 2; i++) {
        restartReplica(new NodeId("r" + i));
      }
      for (int i = 0; i < 3; i++) {
        owners.add(new Host(this, new NodeId("o" + i)));
      }
    }

    void restartReplica(NodeId node) {
      InventoryReceiver receiver = new InventoryReceiver(1 + random.nextInt(6));
      for (int shard = 0; shard < SHARDS; shard++) {
        receiver.serve(shard);
      }
      replicas.put(node, receiver);
      links.forEach(link -> link.cutIf(link.replica.equals(node)));
    }

    void run() {
      for (int step = 0; step < 1500; step++) {
        act();
        check();
      }
      faults = false;
      for (int step = 0; step < 20_000 && !settled(); step++) {
        nanos += 5_000_000;
        owners.forEach(owner -> owner.announcer.step());
        links.forEach(Link::deliver);
        links.removeIf(link -> link.over);
        sweep();
      }
      check();
      assertTrue(settled(), () -> "the streams did not settle: " + story());
      for (InventoryReceiver receiver : replicas.values()) {
        receiver.tables().values().forEach(table -> assertEquals(0, table.stats().deadRows()));
      }
    }

    String story() {
      StringBuilder text = new StringBuilder();
      for (Host owner : owners) {
        text.append("\n").append(owner.run).append(" at ").append(owner.position);
        owner.announcer.status().forEach(status -> text.append("\n  ").append(status));
      }
      replicas.forEach(
          (node, receiver) ->
              receiver
                  .tables()
                  .values()
                  .forEach(
                      table ->
                          text.append(
                              "\n%s %s %s".formatted(node, table.stats(), table.progress()))));
      return text.toString();
    }

    void act() {
      nanos += random.nextLong(20_000_000);
      int what = random.nextInt(1000);
      Host owner = owners.get(random.nextInt(owners.size()));
      if (what < 300) {
        owner.change();
      } else if (what < 600) {
        owner.announcer.step();
      } else if (what < 970 && !links.isEmpty()) {
        links.get(random.nextInt(links.size())).deliver();
      } else if (what < 985) {
        sweep();
      } else if (what < 990 && !links.isEmpty()) {
        links.get(random.nextInt(links.size())).cutIf(true);
      } else if (what < 994) {
        owner.restart();
      } else if (what < 996) {
        restartReplica(new NodeId("r" + random.nextInt(2)));
      } else if (what < 998) {
        InventoryReceiver receiver = replica(new NodeId("r" + random.nextInt(2)));
        receiver.serve(random.nextInt(SHARDS)).drop(owner.node);
      } else {
        nanos += InventorySender.SILENCE_NANOS;
      }
      links.removeIf(link -> link.over);
    }

    void sweep() {
      for (InventoryReceiver receiver : replicas.values()) {
        receiver.tables().values().forEach(table -> table.sweep(1 + random.nextInt(20)));
      }
    }

    boolean settled() {
      for (InventoryReceiver receiver : replicas.values()) {
        for (InventoryTable table : receiver.tables().values()) {
          if (table.stats().deadRows() > 0 || table.progress().size() < owners.size()) {
            return false;
          }
          for (OwnerProgress progress : table.progress()) {
            Host owner = owner(progress.run().node());
            if (!progress.run().equals(owner.run)
                || progress.position().orElse(-1) != owner.position
                || !Rows.visible(table, owner.node).equals(owner.at(table, owner.position))) {
              return false;
            }
          }
        }
      }
      return true;
    }

    void check() {
      for (InventoryReceiver receiver : replicas.values()) {
        for (InventoryTable table : receiver.tables().values()) {
          for (OwnerProgress progress : table.progress()) {
            Host owner = owner(progress.run().node());
            Map<String, Long> seen = Rows.visible(table, owner.node);
            if (progress.position().isEmpty()) {
              assertEquals(Map.of(), seen, "rows without a whole view");
            } else if (progress.run().equals(owner.run)) {
              long at = progress.position().getAsLong();
              assertEquals(owner.at(table, at), seen, owner.run + " at " + at);
              assertEquals(seen.size(), progress.rows());
            }
          }
        }
      }
    }

    InventoryReceiver replica(NodeId node) {
      return Objects.requireNonNull(replicas.get(node));
    }

    Host owner(NodeId node) {
      return owners.stream().filter(owner -> owner.node.equals(node)).findFirst().orElseThrow();
    }
  }

  /** An owner with the literal history of its run. */
  private static final class Host {
    final World world;
    final NodeId node;
    OwnerRun run;
    OwnInventory inventory;
    InventoryAnnouncer announcer;
    long position = 1;
    long generation;
    Map<StateKey, Map<Tier, Long>> rows = new HashMap<>();
    TreeMap<Long, List<Map<String, Long>>> history = new TreeMap<>();

    Host(World world, NodeId node) {
      this.world = world;
      this.node = node;
      this.run = Rows.run(node.text(), 1);
      this.inventory = new OwnInventory(position, 16, NamespaceScope.ALL);
      this.announcer = announcer();
      remember();
    }

    private InventoryAnnouncer announcer() {
      OwnerRun of = run;
      InventoryAnnouncer made =
          new InventoryAnnouncer(
              of,
              inventory,
              (replica, by, shard, listener) -> {
                Link link = new Link(world, replica, by, shard, listener);
                world.links.add(link);
                return link;
              },
              world.random.split(),
              () -> world.nanos);
      for (int shard = 0; shard < SHARDS; shard++) {
        made.announce(shard, Set.copyOf(world.replicas.keySet()));
      }
      return made;
    }

    void restart() {
      announcer.close();
      world.links.forEach(link -> link.cutIf(link.run.equals(run)));
      run = Rows.run(node.text(), run.epoch() + 1);
      rows.clear();
      history.clear();
      position += world.random.nextInt(3);
      inventory = new OwnInventory(position, 16, NamespaceScope.ALL);
      announcer = announcer();
      remember();
    }

    void change() {
      int facts = 1 + world.random.nextInt(4);
      for (int i = 0; i < facts; i++) {
        position += 1 + world.random.nextInt(2);
        StateKey key = Rows.key(world.random.nextInt(40));
        Tier tier = world.random.nextInt(4) == 0 ? Tier.SSD : Tier.DRAM;
        Map<Tier, Long> tiers = rows.computeIfAbsent(key, _ -> new HashMap<>());
        Long held = tiers.get(tier);
        if (held == null) {
          tiers.put(tier, ++generation);
          inventory.sealed(position, key, tier, generation, 4096);
        } else {
          tiers.remove(tier);
          inventory.removed(position, key, tier, held);
        }
        remember();
      }
      position += world.random.nextInt(2);
      inventory.advance(position);
    }

    void remember() {
      List<Map<String, Long>> shards = new ArrayList<>();
      for (int shard = 0; shard < SHARDS; shard++) {
        shards.add(new TreeMap<>());
      }
      rows.forEach(
          (key, tiers) -> {
            int shard = CatalogShards.of(key);
            if (shard < SHARDS) {
              tiers.forEach(
                  (tier, at) -> shards.get(shard).put(Rows.name(Fingerprint.of(key), tier), at));
            }
          });
      history.put(position, shards);
    }

    Map<String, Long> at(InventoryTable table, long at) {
      return history.floorEntry(at).getValue().get(table.catalogShard());
    }
  }

  /** A stream over the bad network. */
  private static final class Link implements InventoryLink {
    final World world;
    final NodeId replica;
    final OwnerRun run;
    final Listener listener;
    final InventoryReceiver.Stream stream;
    final List<InventoryFrame> frames = new ArrayList<>();
    final List<InventoryReply> replies = new ArrayList<>();
    boolean over;

    Link(World world, NodeId replica, OwnerRun run, int shard, Listener listener) {
      this.world = world;
      this.replica = replica;
      this.run = run;
      this.listener = listener;
      this.stream = world.replica(replica).open(run, shard);
      replies.add(stream.first());
    }

    @Override
    public void send(InventoryFrame frame) {
      frames.add(frame);
    }

    @Override
    public void close() {
      over = true;
    }

    void cutIf(boolean condition) {
      if (condition && !over) {
        over = true;
        listener.closed("cut");
      }
    }

    void deliver() {
      if (over) {
        return;
      }
      if (!replies.isEmpty()) {
        InventoryReply reply = replies.removeFirst();
        if (!world.faults || world.random.nextInt(100) >= 2) {
          listener.reply(reply);
        }
      }
      if (frames.isEmpty()) {
        return;
      }
      int luck = world.faults ? world.random.nextInt(100) : 99;
      int which = luck < 6 ? world.random.nextInt(frames.size()) : 0;
      InventoryFrame frame = luck < 12 ? frames.get(which) : frames.remove(which);
      if (luck >= 12 && luck < 15) {
        return; // lost
      }
      replies.add(stream.frame(frame));
    }
  }
}
