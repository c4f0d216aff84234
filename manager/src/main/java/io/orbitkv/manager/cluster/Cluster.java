package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.CircuitBreaker;
import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.inventory.InventoryAnnouncer;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.catalog.inventory.OwnInventory;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.SenderStatus;
import io.orbitkv.catalog.inventory.TableSweeper;
import io.orbitkv.catalog.lookup.CandidateIndex;
import io.orbitkv.catalog.lookup.CatalogLookup;
import io.orbitkv.catalog.lookup.LocalLookup;
import io.orbitkv.catalog.membership.JoinOutcome;
import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.catalog.membership.Membership;
import io.orbitkv.catalog.membership.MembershipConfig;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.catalog.peer.PeerClients;
import io.orbitkv.catalog.peer.PeerHandlers;
import io.orbitkv.catalog.peer.PeerLimits;
import io.orbitkv.catalog.peer.PeerServer;
import io.orbitkv.catalog.peer.PeerStats;
import io.orbitkv.catalog.peer.PeerThreads;
import io.orbitkv.catalog.placement.CatalogLog;
import io.orbitkv.catalog.placement.CatalogOrders;
import io.orbitkv.catalog.placement.KnownPlacements;
import io.orbitkv.catalog.raft.CatalogReplicas;
import io.orbitkv.catalog.raft.RaftOptions;
import io.orbitkv.catalog.raft.RaftTls;
import io.orbitkv.catalog.raft.ReplicaStatus;
import io.orbitkv.core.Command;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.manager.StartFailure;
import io.orbitkv.manager.config.ClusterConfig;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.TransferStats;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This host among others, put together: {@link #prepare} takes what it needs of the host, {@link
 * #begin} takes part, {@link #drain} ends what others have under way here, {@link #close} leaves.
 *
 * <p>Nothing here holds up a start or the loop: a Manager whose etcd is away serves its own engines
 * and takes part when etcd is there.
 */
public final class Cluster implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

  private static final int WINDOW_FRAMES = 64;
  private static final long INDEX_KEYS = 65_536;
  private static final Duration INDEX_AGE = Duration.ofSeconds(5);
  private static final long STEP_MILLIS = 100;
  private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long LEAVE_MILLIS = 3000;
  private static final int MANY_PROCESSORS = 4;

  private final ClusterConfig config;
  private final MemorySegment pool;
  private final Predicate<Command> loop;
  private final UUID runtime = UUID.randomUUID();
  private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
  private final PeerSecrets secrets;
  private final PeerStats stats = new PeerStats();
  private final PeerThreads threads;
  private final Random random = new Random();
  private final InventoryReceiver receiver = new InventoryReceiver(WINDOW_FRAMES);
  private final KnownPlacements catalog;
  private final InventoryTail tail;
  private final TransferEngine transfer;
  private final PeerClients clients;
  private final LocalLookup local;
  private final CatalogLookup lookup;
  private final ExecutorService work =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("orbitkv-remote-", 0).factory());
  private final PeerBlocks blocks;
  private final Peers peers;

  private volatile @Nullable Membership membership;
  private volatile @Nullable CatalogReplicas replicas;
  private volatile Optional<OwnerRun> run = Optional.empty();
  private volatile @Nullable InventoryAnnouncer announcer;
  private volatile boolean inventoryWhole;
  private volatile boolean draining;
  private volatile Optional<String> refused = Optional.empty();
  private Set<Integer> served = Set.of();

  private final long[] noted = new long[CatalogShards.COUNT];

  /** Whom each catalog shard is streamed to: handoffs begin and end without a new placement. */
  private final Map<Integer, Set<NodeId>> announced = new HashMap<>();

  private @Nullable Thread leaving;

  /**
   * Takes what it needs and says nothing to anybody yet.
   *
   * @param journalDir where this host's facts are
   * @param written the position of the last of them, for any thread
   * @param pool what others read of and what is read goes to; it must outlive this
   * @param loop hands a command to the loop; false if too many wait
   * @param wakeLoop ends the loop's sleep
   * @throws StartFailure if a file or an address cannot be used
   */
  public static Cluster prepare(
      ClusterConfig config,
      Path journalDir,
      LongSupplier written,
      MemorySegment pool,
      Predicate<Command> loop,
      Runnable wakeLoop)
      throws StartFailure {
    return new Cluster(config, journalDir, written, pool, loop, wakeLoop);
  }

  private Cluster(
      ClusterConfig config,
      Path journalDir,
      LongSupplier written,
      MemorySegment pool,
      Predicate<Command> loop,
      Runnable wakeLoop)
      throws StartFailure {
    this.config = config;
    this.loop = loop;
    this.pool = pool;
    secrets = PeerSecrets.read(config);
    catalog = new KnownPlacements(config.node());
    tail = new InventoryTail(journalDir, written, () -> inventoryWhole = true);
    transfer = new Transfers(config, runtime, secrets.reads(), pool, this::members).start();
    threads = new PeerThreads(Runtime.getRuntime().availableProcessors() > MANY_PROCESSORS ? 2 : 1);
    keep(threads);
    clients =
        new PeerClients(
            config.node(),
            peer -> members().member(peer).map(MemberRecord::peer),
            secrets.calls(),
            PeerLimits.DEFAULT,
            stats,
            threads,
            random,
            System::nanoTime);
    keep(clients);
    local = new LocalLookup(receiver, catalog, this::owners);
    lookup =
        new CatalogLookup(
            config.node(),
            local,
            catalog,
            clients,
            new CandidateIndex(INDEX_KEYS, INDEX_AGE, System::nanoTime),
            this::isUsable,
            System::nanoTime);
    blocks =
        new PeerBlocks(
            () -> admission().isOpen() && catalog.isFounded(),
            () -> run,
            node -> members().member(node),
            lookup,
            clients,
            transfer,
            Transfers.carrier(transfer, pool).name(),
            work,
            wakeLoop);
    peers = new Peers(config.work(), runtime, blocks, new GrantedPool(transfer.grants(), wakeLoop));
  }

  /**
   * Takes part from now on. It returns at once, whether etcd answers or not.
   *
   * @throws StartFailure if the address for calls cannot be used
   */
  public void begin() throws StartFailure {
    CatalogReplicas log = openLog();
    replicas = log;
    keep(log);
    PeerServer server = listen(log);
    keep(server);
    TransferEngine.Carrier carrier = transfer.carrier();
    Membership member =
        Membership.start(
            new MembershipConfig(
                config.etcd(),
                config.cluster(),
                config.node(),
                new Endpoint(config.peer().getHostString(), server.port()),
                new Endpoint(config.catalog().getHostString(), config.catalog().getPort()),
                new Endpoint(transfer.endpoint().host(), transfer.endpoint().port()),
                Transfers.carrier(transfer, pool),
                runtime,
                config.memberTtl()),
            random,
            System::nanoTime,
            InstantSource.system());
    membership = member;
    keep(member);
    LOG.info(
        "cluster: node={} cluster={} runtime={} peer={}:{} ({}) transfer={}:{} ({}: {})",
        config.node(),
        config.cluster(),
        runtime,
        config.peer().getHostString(),
        server.port(),
        secrets.calls(),
        transfer.endpoint().host(),
        transfer.endpoint().port(),
        carrier.name(),
        carrier.reason());
    tail.start();
    keep(tail);
    keep(new TableSweeper(receiver));
    HostAgreement agreement =
        new HostAgreement(member, config.replicationFactor(), System::nanoTime);
    MembershipLog changes = new MembershipLog();
    DepartedPeers departed = new DepartedPeers(loop);
    CatalogSteps agreed = new CatalogSteps(config, log, catalog, clients, local);
    ScheduledExecutorService steps =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("orbitkv-cluster").daemon().factory());
    keep(steps::shutdownNow);
    var _ =
        steps.scheduleWithFixedDelay(
            () -> step(member, agreement, changes, departed, agreed),
            0,
            STEP_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  private void keep(AutoCloseable part) {
    synchronized (toClose) {
      toClose.push(part);
    }
  }

  private CatalogReplicas openLog() throws StartFailure {
    InetSocketAddress address = config.catalog();
    try {
      return CatalogReplicas.start(
          RaftOptions.of(
              config.cluster(),
              config.node(),
              new Endpoint(address.getHostString(), address.getPort()),
              config.catalogDir(),
              config
                  .tls()
                  .map(tls -> new RaftTls(tls.privateKey(), tls.certificate(), tls.authority()))),
          node -> members().member(node).map(MemberRecord::catalog));
    } catch (IOException refusal) {
      throw new StartFailure(
          "the catalog cannot be kept in %s and served at %s:%d: %s"
              .formatted(
                  config.catalogDir(),
                  address.getHostString(),
                  address.getPort(),
                  refusal.getMessage()),
          "choose another --catalog-addr, an address of this host with a port that is free, or a"
              + " --catalog-dir that this user can write",
          refusal);
    }
  }

  private PeerServer listen(CatalogLog log) throws StartFailure {
    InetSocketAddress address = config.peer();
    try {
      return PeerServer.start(
          address,
          secrets.calls(),
          PeerLimits.DEFAULT,
          new PeerHandlers(
              runtime,
              new PeerGrants(this::admission, loop),
              receiver,
              local,
              orders(log),
              catalog),
          stats,
          threads);
    } catch (IOException refusal) {
      throw new StartFailure(
          "calls of other hosts cannot be served at %s:%d: %s"
              .formatted(address.getHostString(), address.getPort(), refusal.getMessage()),
          "choose another --peer-addr, an address of this host, port 0 for any; look at"
              + " --peer-cert, --peer-key and --peer-ca if they are given",
          refusal);
    }
  }

  // ---- what is done again and again, on one thread ---------------------------------------------

  private void step(
      Membership member,
      HostAgreement agreement,
      MembershipLog changes,
      DepartedPeers departed,
      CatalogSteps agreed) {
    try {
      if (draining) {
        return;
      }
      switch (member.joined().getNow(null)) {
        case null -> {
          // etcd has not answered yet
        }
        case JoinOutcome.Joined(MemberRecord record) -> run = Optional.of(record.run());
        case JoinOutcome.Refused(var refusal) -> refused = Optional.of(refusal.toString());
      }
      changes.look(member.snapshot(), member.admission());
      departed.look(member.snapshot());
      blocks.giveUpStopped();
      agreement.step();
      agreed.step(member.snapshot(), member.admission().isOpen());
      place();
      announce();
      note();
    } catch (RuntimeException failed) {
      LOG.error("cluster: a step failed; it is tried again", failed);
    }
  }

  /** Serves the catalog shards that are placed here, and no others. */
  private void place() {
    Set<Integer> mine = new HashSet<>();
    if (catalog.isFounded()) {
      for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
        if (catalog.holders(shard).contains(config.node())) {
          mine.add(shard);
        }
      }
    }
    if (mine.equals(served)) {
      return;
    }
    mine.forEach(receiver::serve);
    served.stream().filter(shard -> !mine.contains(shard)).forEach(receiver::retire);
    served = mine;
    LOG.info("catalog: this host serves the catalog shards {}", mine.stream().sorted().toList());
  }

  /** Streams to the replicas, once there is something to stream and a run to stream as. */
  private void announce() {
    InventoryAnnouncer to = announcer;
    if (to == null) {
      Optional<OwnerRun> self = run;
      if (!inventoryWhole || self.isEmpty()) {
        return;
      }
      to = new InventoryAnnouncer(self.get(), tail.inventory(), clients, random, System::nanoTime);
      announcer = to;
      keep(to);
      to.start();
    }
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      Set<NodeId> holders = catalog.isFounded() ? Set.copyOf(catalog.holders(shard)) : Set.of();
      if (!holders.equals(announced.get(shard))) {
        announced.put(shard, holders);
        to.announce(shard, holders);
      }
    }
  }

  /** Has the journal say where catalog shards are; what the loop has no room for is told again. */
  private void note() {
    for (int shard = 0; catalog.isFounded() && shard < CatalogShards.COUNT; shard++) {
      Placement placement = catalog.placement(shard);
      if (noted[shard] < placement.generation()
          && loop.test(
              new Command.NotePlacement(
                  shard,
                  placement.generation(),
                  placement.members().stream().map(NodeId::text).toList()))) {
        noted[shard] = placement.generation();
      }
    }
  }

  private boolean isUsable(OwnerRun owner) {
    return !owner.node().equals(config.node()) && members().isLive(owner);
  }

  // ---- what others of this process see ---------------------------------------------------------

  public ClusterConfig config() {
    return config;
  }

  /** This run, as others know it. */
  public UUID runtime() {
    return runtime;
  }

  /** The members as they were read last. */
  public MemberSnapshot members() {
    Membership member = membership;
    return member == null ? MemberSnapshot.NONE : member.snapshot();
  }

  /** Whose views make a table whole: before any member is known this host's at least. */
  private Set<NodeId> owners() {
    Set<NodeId> live = members().members().keySet();
    return live.isEmpty() ? Set.of(config.node()) : live;
  }

  /** Whether work with others may begin. Never waits. */
  public RemoteAdmission admission() {
    Membership member = membership;
    if (draining || member == null) {
      return new RemoteAdmission.Fenced("this daemon ends or has not begun", Instant.now());
    }
    return member.admission();
  }

  /** Other hosts, as the loop is given them. */
  public Peers peers() {
    return peers;
  }

  /** Finds who has blocks. */
  public CatalogLookup lookup() {
    return lookup;
  }

  /** Whether the hosts have agreed on where the catalog is. */
  public boolean isFounded() {
    return catalog.isFounded();
  }

  /** The placements as this host knows them. */
  public List<Placement> placements() {
    return catalog.all();
  }

  /** What operators may order; refused before this host has begun. */
  public Optional<CatalogOrders> orders() {
    CatalogReplicas log = replicas;
    return log == null ? Optional.empty() : Optional.of(orders(log));
  }

  private CatalogOrders orders(CatalogLog log) {
    return new CatalogOrders(log, () -> members().members().keySet());
  }

  /** The handoff of a catalog shard that is under way, as far as this host knows. */
  public Optional<Handoff> handoff(int catalogShard) {
    return catalog.handoff(catalogShard);
  }

  /** This host's replicas of the catalog's log. */
  public List<ReplicaStatus> replicas() {
    CatalogReplicas log = replicas;
    return log == null ? List.of() : log.status();
  }

  /** The inventory of this host. */
  public OwnInventory inventory() {
    return tail.inventory();
  }

  /** How many facts of the journal are not in it. */
  public long inventoryBehind() {
    return tail.behind();
  }

  /** This host's streams. */
  public List<SenderStatus> streams() {
    InventoryAnnouncer to = announcer;
    return to == null ? List.of() : to.status();
  }

  /** The tables of the catalog shards that this host serves. */
  public SortedMap<Integer, InventoryTable> tables() {
    return receiver.tables();
  }

  /** Calls by peer and outcome. */
  public PeerStats calls() {
    return stats;
  }

  /** Which peers are called. */
  public Map<NodeId, CircuitBreaker.State> breakers() {
    return clients.breakers();
  }

  /** What moves blocks. */
  public TransferEngine transfer() {
    return transfer;
  }

  /** What does not work, for people; empty when all is well. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    refused.ifPresent(reason -> problems.add("cluster: not a member: " + reason));
    if (refused.isEmpty()
        && !draining
        && admission() instanceof RemoteAdmission.Fenced(String reason, Instant _)) {
      problems.add("cluster: no work with other hosts begins: " + reason);
    }
    tail.problem().ifPresent(problem -> problems.add("cluster: " + problem));
    return problems;
  }

  // ---- end -------------------------------------------------------------------------------------

  /**
   * Begins no work with others any more, leaves what is under way half a second, and ends it. When
   * this returns, nothing of others touches the pool, and this host is leaving.
   */
  public synchronized void drain() {
    if (leaving != null) {
      return;
    }
    draining = true;
    long deadline = System.nanoTime() + DRAIN_NANOS;
    while (isBusy() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(5));
    }
    transfer.close();
    leaving = Thread.ofPlatform().name("orbitkv-cluster-leave").daemon().start(this::closeAll);
  }

  private boolean isBusy() {
    TransferStats now = transfer.stats();
    return now.grantedReads() > 0 || now.bytesInFlight() > 0;
  }

  /** Leaves; others know at once if etcd answers. At most about three seconds. */
  @Override
  public synchronized void close() {
    drain();
    Thread ending = leaving;
    if (ending != null) {
      try {
        ending.join(LEAVE_MILLIS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void closeAll() {
    for (; ; ) {
      AutoCloseable part;
      synchronized (toClose) {
        part = toClose.poll();
      }
      if (part == null) {
        return;
      }
      try {
        part.close();
      } catch (Exception failed) {
        LOG.error("cluster: a part did not close", failed);
      }
    }
  }
}
