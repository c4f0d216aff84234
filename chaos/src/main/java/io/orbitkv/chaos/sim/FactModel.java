package io.orbitkv.chaos.sim;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.identity.GroupSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the facts say, read in the plainest way: which keys can be found, what is open, what was
 * ever told. It shares no code with the fold that the Manager runs on.
 */
final class FactModel {
  /** A bound namespace. */
  private record Bound(String name, Map<Integer, GroupSpec> groups, int shards) {}

  /** One publish that is open. */
  private record Publish(List<Block> blocks, int slice) {}

  /** One block, from its first reservation on. */
  static final class Block {
    final long id;
    final Name name;
    final int slices;
    private int reserved;
    private int published;
    private int leases;
    private int restores;
    private boolean evicted;
    private boolean inDram;
    private boolean onSsd;
    private boolean loading;

    /** The epoch in which it came to SSD. */
    private long writtenIn;

    private final int[] bytes;

    Block(long id, Name name, int slices) {
      this.id = id;
      this.name = name;
      this.slices = slices;
      this.bytes = new int[slices];
    }

    /** Bytes set aside for a slice. */
    int bytes(int slice) {
      return bytes[slice];
    }

    boolean isLoading() {
      return loading;
    }

    boolean wasEvicted() {
      return evicted;
    }

    /** Whether it was written to SSD by an earlier process than the last. */
    boolean outlived(long epoch) {
      return onSsd && writtenIn < epoch;
    }

    boolean sealed() {
      return published == (1 << slices) - 1;
    }

    /** Out of sight, and after its last lease kept alive by nothing but copies that read it. */
    boolean keptByCopiesOnly() {
      return evicted && leases == 0 && restores > 0;
    }
  }

  /** One lease. */
  static final class Lease {
    final long id;
    final long sessionId;
    final Map<Integer, List<Block>> blocks = new HashMap<>();
    boolean open = true;

    Lease(long id, long sessionId) {
      this.id = id;
      this.sessionId = sessionId;
    }

    int size() {
      return blocks.values().stream().mapToInt(List::size).sum();
    }

    void forEach(java.util.function.Consumer<Block> visitor) {
      blocks.values().forEach(group -> group.forEach(visitor));
    }
  }

  private final Map<Integer, Bound> namespaces = new HashMap<>();
  private final Map<Long, Integer> namespaceOfInstance = new HashMap<>();
  private final Map<Long, Long> instanceOfSession = new HashMap<>();
  private final Set<Long> openSessions = new HashSet<>();
  private final Map<Long, Block> blocks = new HashMap<>();
  private final Map<Name, Block> findable = new HashMap<>();

  /** Those on SSD only as well. */
  private final Map<Name, Block> stored = new HashMap<>();

  /** The last block of a key that may still be found, or found again. */
  private final Map<Name, Block> coming = new HashMap<>();

  private final Map<Long, Publish> publishes = new HashMap<>();
  private final Map<Long, Lease> leases = new HashMap<>();
  private final Map<Long, Lease> restores = new HashMap<>();
  private final Set<Long> tickets = new HashSet<>();
  private final Set<Long> everRestored = new HashSet<>();
  private final Set<Long> everTickets = new HashSet<>();
  private final Map<Name, Integer> everPublished = new HashMap<>();
  private int openLeases;
  private long epoch;
  private boolean hanging;

  /** Takes the next fact. */
  void add(Fact fact) {
    switch (fact.event()) {
      case HostEvent.EpochStarted e -> {
        epoch = e.epoch();
        hanging = false;
      }
      case HostEvent.EpochEnded _ -> {}
      case HostEvent.NamespaceBound e -> {
        Map<Integer, GroupSpec> groups = new HashMap<>();
        e.format().groups().forEach(group -> groups.put(group.groupId(), group));
        namespaces.put(e.namespaceId(), new Bound(e.namespace(), groups, e.shardCount()));
      }
      case HostEvent.NamespaceUnbound _ -> {}
      case HostEvent.InstanceRegistered e ->
          namespaceOfInstance.put(e.instanceId(), e.namespaceId());
      case HostEvent.InstanceCleaned _ -> {}
      case HostEvent.SessionOpened e -> {
        instanceOfSession.put(e.sessionId(), e.instanceId());
        openSessions.add(e.sessionId());
      }
      case HostEvent.SessionClosed e -> openSessions.remove(e.sessionId());
      case HostEvent.SlicesReserved e -> reserved(e);
      case HostEvent.SlicesPublished e -> published(e);
      case HostEvent.PublishAborted e -> aborted(e);
      case HostEvent.BlocksEvicted e -> e.blocks().forEach(this::evicted);
      case HostEvent.LeaseGranted e -> granted(e);
      case HostEvent.LeaseReleased e -> {
        Lease lease = need(leases.get(e.leaseId()), "lease", e.leaseId());
        lease.open = false;
        openLeases--;
        lease.forEach(block -> block.leases--);
      }
      case HostEvent.TicketOpened e -> {
        tickets.add(e.ticketId());
        everTickets.add(e.ticketId());
      }
      case HostEvent.TicketClosed e -> tickets.remove(e.ticketId());
      case HostEvent.RestoreStarted e -> {
        Lease lease = need(leases.get(e.leaseId()), "lease", e.leaseId());
        restores.put(e.restoreId(), lease);
        lease.forEach(block -> block.restores++);
      }
      case HostEvent.RestoreFinished e -> {
        need(restores.remove(e.restoreId()), "restore", e.restoreId())
            .forEach(block -> block.restores--);
        everRestored.add(e.restoreId());
      }
      case HostEvent.QueryMissed _ -> {}
      case HostEvent.RequestRefused _ -> {}
      case HostEvent.RegistrationRefused _ -> {}
      case HostEvent.VerifyFailed _ -> {}
      case HostEvent.DigestRecorded _ -> {}
      case HostEvent.TierFact tier -> add(tier);
      case HostEvent.PlacementSeen _ -> {}
      case HostEvent.PeerFact peer ->
          throw new Violation(
              Rule.INVARIANT, "a host of a world without others has a fact: " + peer);
    }
  }

  private static <T> T need(@Nullable T found, String what, long id) {
    if (found == null) {
      throw new Violation(Rule.INVARIANT, "a fact ends " + what + " " + id + ", which is not open");
    }
    return found;
  }

  private void reserved(HostEvent.SlicesReserved fact) {
    Bound bound = boundOf(fact.sessionId());
    GroupSpec group = need(bound.groups().get(fact.groupId()), "group", fact.groupId());
    int slice = group.replicated() ? 0 : fact.shard();
    List<Block> of = new ArrayList<>();
    int[] fresh = {0};
    fact.blocks()
        .forEach(
            id -> {
              if (id >= fact.firstNewBlockId()) {
                Name name = Name.of(bound.name(), fact.groupId(), fact.newKeys(), fresh[0]++);
                blocks.put(id, new Block(id, name, group.replicated() ? 1 : bound.shards()));
              }
              Block block = need(blocks.get(id), "block", id);
              coming.put(block.name, block);
              block.reserved |= 1 << slice;
              block.bytes[slice] = fact.extentBytes();
              of.add(block);
            });
    publishes.put(fact.publishId(), new Publish(of, slice));
  }

  private void published(HostEvent.SlicesPublished fact) {
    Publish publish = need(publishes.remove(fact.publishId()), "publish", fact.publishId());
    for (Block block : publish.blocks()) {
      block.published |= 1 << publish.slice();
      everPublished.merge(block.name, 1, Integer::sum);
      if (block.sealed() && !block.evicted) {
        block.inDram = true;
        findable.put(block.name, block);
        stored.put(block.name, block);
      }
    }
  }

  private void aborted(HostEvent.PublishAborted fact) {
    Publish publish = need(publishes.remove(fact.publishId()), "publish", fact.publishId());
    for (Block block : publish.blocks()) {
      block.reserved &= ~(1 << publish.slice());
    }
  }

  private void evicted(long id) {
    gone(need(blocks.get(id), "block", id));
  }

  private void gone(Block block) {
    block.evicted = true;
    block.inDram = false;
    findable.remove(block.name, block);
    stored.remove(block.name, block);
    coming.remove(block.name, block);
  }

  private void add(HostEvent.TierFact fact) {
    switch (fact) {
      case HostEvent.SsdTierOpened _ -> {}
      case HostEvent.LayersBound _ -> {}
      case HostEvent.TierDegraded e -> hanging |= e.trouble() == HostEvent.TierTrouble.HANGS;
      case HostEvent.TierRecovered e -> hanging &= e.trouble() != HostEvent.TierTrouble.HANGS;
      case HostEvent.SsdWritten e ->
          e.blocks()
              .forEach(
                  id -> {
                    Block block = need(blocks.get(id), "block", id);
                    block.onSsd = true;
                    block.writtenIn = epoch;
                  });
      case HostEvent.SsdSkipped e ->
          e.blocks()
              .forEach(
                  id ->
                      Violation.require(
                          !need(blocks.get(id), "block", id).onSsd,
                          Rule.INVARIANT,
                          () -> "block %d is on SSD and was skipped".formatted(id)));
      case HostEvent.SsdEvicted e -> e.blocks().forEach(this::ssdEvicted);
      case HostEvent.BlocksDemoted e ->
          e.blocks()
              .forEach(
                  id -> {
                    Block block = need(blocks.get(id), "block", id);
                    block.inDram = false;
                    findable.remove(block.name, block);
                  });
      case HostEvent.BlocksLoading e ->
          e.blocks().forEach(id -> need(blocks.get(id), "block", id).loading = true);
      case HostEvent.BlocksLoaded e ->
          e.blocks()
              .forEach(
                  id -> {
                    Block block = need(blocks.get(id), "block", id);
                    block.loading = false;
                    if (!block.evicted) {
                      block.inDram = true;
                      findable.put(block.name, block);
                    }
                  });
      case HostEvent.LoadFailed e -> e.blocks().forEach(id -> loadFailed(id, e.reason()));
      case HostEvent.PoolFact e ->
          throw new Violation(Rule.INVARIANT, "a pool that no world here keeps has a fact: " + e);
    }
  }

  private void ssdEvicted(long id) {
    Block block = need(blocks.get(id), "block", id);
    block.onSsd = false;
    if (!block.inDram && !block.loading && !block.evicted) {
      gone(block);
    }
  }

  private void loadFailed(long id, HostEvent.LoadFailure reason) {
    Block block = need(blocks.get(id), "block", id);
    block.loading = false;
    boolean copyGone =
        switch (reason) {
          case IO_ERROR, SHORT, CHECKSUM -> true;
          case CANCELLED, RESTART -> false;
        };
    if (copyGone || !block.onSsd) {
      block.onSsd = false;
      gone(block);
    }
  }

  private void granted(HostEvent.LeaseGranted fact) {
    Lease lease = new Lease(fact.leaseId(), fact.sessionId());
    for (GroupLease group : fact.held()) {
      List<Block> held = new ArrayList<>();
      group.blocks().forEach(id -> held.add(need(blocks.get(id), "block", id)));
      lease.blocks.put(group.groupId(), held);
    }
    lease.forEach(block -> block.leases++);
    leases.put(lease.id, lease);
    openLeases++;
  }

  private Bound boundOf(long sessionId) {
    Long instance = need(instanceOfSession.get(sessionId), "session", sessionId);
    Integer namespace = need(namespaceOfInstance.get(instance), "instance", instance);
    return need(namespaces.get(namespace), "namespace", namespace);
  }

  // ---- what it knows
  // -----------------------------------------------------------------------------------------------

  /** Whether a key can be leased at once. */
  boolean found(Name name) {
    return findable.containsKey(name);
  }

  /** Whether a key is in DRAM or on SSD. */
  boolean stored(Name name) {
    return stored.containsKey(name);
  }

  /** Whether a key can be leased now or will perhaps be without anybody's doing. */
  boolean coming(Name name) {
    return coming.containsKey(name);
  }

  /** The same as far as it needs no disk. */
  boolean comingWithoutDisk(Name name) {
    Block block = coming.get(name);
    return block != null && (block.inDram || !block.sealed());
  }

  /** Blocks that a restart must find on SSD. */
  Set<Long> onSsd() {
    Set<Long> ids = new TreeSet<>();
    stored.values().stream().filter(block -> block.onSsd).forEach(block -> ids.add(block.id));
    return ids;
  }

  /** Blocks that can be found, in DRAM or on SSD. */
  Set<Long> storedIds() {
    Set<Long> ids = new TreeSet<>();
    stored.values().forEach(block -> ids.add(block.id));
    return ids;
  }

  /** Whether the journal says that the disk hangs. */
  boolean diskHangs() {
    return hanging;
  }

  @Nullable Block block(long id) {
    return blocks.get(id);
  }

  @Nullable Lease lease(long id) {
    return leases.get(id);
  }

  /** Open leases of sessions of an instance. */
  List<Lease> openLeases(long sessionId) {
    Long instance = instanceOfSession.get(sessionId);
    return leases.values().stream()
        .filter(lease -> lease.open)
        .filter(
            lease -> instance != null && instance.equals(instanceOfSession.get(lease.sessionId)))
        .sorted(java.util.Comparator.comparingLong(lease -> lease.id))
        .toList();
  }

  boolean sessionOpened(long id) {
    return instanceOfSession.containsKey(id);
  }

  boolean sessionOpen(long id) {
    return openSessions.contains(id);
  }

  boolean ticketOpened(long id) {
    return everTickets.contains(id);
  }

  boolean restoreFinished(long id) {
    return everRestored.contains(id);
  }

  /** How many slices of a key were ever published. */
  int published(Name name) {
    return everPublished.getOrDefault(name, 0);
  }

  /** How much is open. */
  record Counts(
      int sessions, int leases, int tickets, int publishes, int restores, int sealedBlocks) {
    boolean nothingOpen() {
      return sessions + leases + tickets + publishes + restores == 0;
    }
  }

  Counts counts() {
    return new Counts(
        openSessions.size(),
        openLeases,
        tickets.size(),
        publishes.size(),
        restores.size(),
        findable.size());
  }

  /** Keys in DRAM or on SSD. */
  int storedBlocks() {
    return stored.size();
  }

  long epoch() {
    return epoch;
  }
}
