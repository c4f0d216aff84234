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

    Block(long id, Name name, int slices) {
      this.id = id;
      this.name = name;
      this.slices = slices;
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
  private final Map<Long, Publish> publishes = new HashMap<>();
  private final Map<Long, Lease> leases = new HashMap<>();
  private final Map<Long, Lease> restores = new HashMap<>();
  private final Set<Long> tickets = new HashSet<>();
  private final Set<Long> everRestored = new HashSet<>();
  private final Set<Long> everTickets = new HashSet<>();
  private final Map<Name, Integer> everPublished = new HashMap<>();
  private int openLeases;
  private long epoch;

  /** Takes the next fact. */
  void add(Fact fact) {
    switch (fact.event()) {
      case HostEvent.EpochStarted e -> epoch = e.epoch();
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
      case HostEvent.TierFact e ->
          throw new IllegalStateException(e + " from a loop without an SSD tier");
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
              block.reserved |= 1 << slice;
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
        findable.put(block.name, block);
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
    Block block = need(blocks.get(id), "block", id);
    block.evicted = true;
    findable.remove(block.name, block);
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

  boolean found(Name name) {
    return findable.containsKey(name);
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

  long epoch() {
    return epoch;
  }
}
