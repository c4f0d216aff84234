package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.placement.CatalogChangeListener;
import io.orbitkv.catalog.placement.CatalogLog;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.exceptions.AlreadyExistsException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.LifeCycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This host's part in the agreement on the 16 catalog shards: one Raft server, a group for each
 * catalog shard that it is a member of, and a way to the others' leaders.
 *
 * <p>Groups that are on disk are there again after a start. One that is founded begins with the
 * members that every host computes of the agreed host set; its first leader writes them into the
 * log as generation 1. A host that joins later is given an empty group by the leader, which then
 * sends it the log.
 */
public final class CatalogReplicas implements CatalogLog, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogReplicas.class);
  private static final long FOUNDING_LOOK_MILLIS = 200;

  private final RaftOptions options;
  private final CatalogGroups groups;
  private final RaftServer server;
  private final LeaderCalls calls;
  private final Map<Integer, CatalogStateMachine> machines = new ConcurrentHashMap<>();
  private final List<CatalogChangeListener> listeners = new CopyOnWriteArrayList<>();
  private final AtomicLong callIds = new AtomicLong();
  private final ClientId self = ClientId.randomId();
  private final ScheduledExecutorService founding =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("catalog-founding").factory());
  private final Map<Integer, List<NodeId>> toFound = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private CatalogReplicas(RaftOptions options, Function<NodeId, Optional<Endpoint>> addresses)
      throws IOException {
    this.options = options;
    this.groups = new CatalogGroups(options.cluster(), addresses);
    Files.createDirectories(options.dir());
    this.server =
        RaftServer.newBuilder()
            .setServerId(CatalogGroups.peerId(options.node()))
            .setStateMachineRegistry(this::machine)
            .setProperties(RaftSettings.properties(options))
            .setParameters(RaftSettings.parameters(options))
            .setOption(RaftStorage.StartupOption.RECOVER)
            .build();
    this.calls = new LeaderCalls(options, groups, this::localLeaderHint);
  }

  /**
   * Starts the server with what is on disk.
   *
   * @param addresses where other hosts' servers listen, empty while that is not known; any thread
   * @throws IOException if the port is taken, or the disk does not give what was written
   */
  public static CatalogReplicas start(
      RaftOptions options, Function<NodeId, Optional<Endpoint>> addresses) throws IOException {
    CatalogReplicas replicas;
    try {
      replicas = new CatalogReplicas(options, addresses);
    } catch (RuntimeException failed) {
      throw new IOException(rootOf(failed).getMessage(), failed);
    }
    try {
      replicas.server.start();
    } catch (IOException | RuntimeException failed) {
      replicas.close();
      throw failed instanceof IOException refusal
          ? refusal
          : new IOException(rootOf(failed).getMessage(), failed);
    }
    var _ =
        replicas.founding.scheduleWithFixedDelay(
            replicas::found, FOUNDING_LOOK_MILLIS, FOUNDING_LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return replicas;
  }

  /** Ratis wraps what its threads throw several times. */
  private static Throwable rootOf(Throwable failed) {
    Throwable root = failed;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  private CatalogStateMachine machine(RaftGroupId id) {
    Integer shard = groups.shard(id);
    if (shard == null) {
      throw new IllegalStateException(
          "it has a log of another cluster than %s (group %s)".formatted(options.cluster(), id));
    }
    CatalogStateMachine machine = new CatalogStateMachine(shard, this::changed);
    machines.put(shard, machine);
    return machine;
  }

  private void changed(CatalogView view) {
    for (CatalogChangeListener listener : listeners) {
      listener.changed(view);
    }
  }

  // ---- founding
  // -----------------------------------------------------------------------------------------------------

  /**
   * The hosts have agreed on the members that a catalog shard begins with. If this host is one of
   * them and has no log of the catalog shard, it begins one; whoever leads it writes them down.
   * Tried until every member's address is known.
   */
  public void found(int catalogShard, List<NodeId> members) {
    toFound.put(catalogShard, List.copyOf(members));
  }

  private void found() {
    toFound.forEach(
        (shard, members) -> {
          try {
            if (founded(shard, members)) {
              toFound.remove(shard);
            }
          } catch (IOException | RuntimeException failed) {
            LOG.warn("catalog shard {} cannot be founded yet: {}", shard, failed.toString());
          }
        });
  }

  /** Whether nothing is left to do. */
  private boolean founded(int shard, List<NodeId> members) throws IOException {
    if (closed || !members.contains(options.node())) {
      return true;
    }
    if (!has(shard)) {
      Optional<RaftGroup> group = groups.group(shard, members);
      if (group.isEmpty()) {
        return false;
      }
      add(group.get());
    }
    Optional<CatalogView> view = local(shard);
    if (view.isPresent() && view.get().placement() != null) {
      return true;
    }
    if (leads(shard)) {
      propose(shard, List.of(new CatalogCommand.Found(members))).join();
    }
    return false;
  }

  private boolean has(int shard) {
    for (RaftGroupId id : server.getGroupIds()) {
      if (id.equals(groups.id(shard))) {
        return true;
      }
    }
    return false;
  }

  private void add(RaftGroup group) throws IOException {
    try {
      RaftClientReply reply =
          server.groupManagement(
              GroupManagementRequest.newAdd(
                  self, server.getId(), callIds.incrementAndGet(), group, false));
      if (!reply.isSuccess()) {
        throw new IOException("the server took no group: " + reply.getException());
      }
    } catch (AlreadyExistsException there) {
      LOG.debug("{} is there", group.getGroupId());
    }
  }

  // ---- the log
  // ------------------------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<LogAnswer<List<CatalogAnswer>>> propose(
      int catalogShard, List<CatalogCommand> commands) {
    if (commands.isEmpty()) {
      return CompletableFuture.completedFuture(new LogAnswer.Given<>(List.of()));
    }
    return calls.propose(catalogShard, commands);
  }

  @Override
  public CompletableFuture<LogAnswer<CatalogView>> read(int catalogShard) {
    return calls.read(catalogShard);
  }

  @Override
  public Optional<CatalogView> local(int catalogShard) {
    CatalogStateMachine machine = machines.get(catalogShard);
    return machine == null || !has(catalogShard) ? Optional.empty() : Optional.of(machine.view());
  }

  @Override
  public boolean leads(int catalogShard) {
    return division(catalogShard).map(it -> it.getInfo().isLeaderReady()).orElse(false);
  }

  @Override
  public CompletableFuture<LogAnswer<Boolean>> configure(
      int catalogShard, List<NodeId> voters, List<NodeId> learners) {
    Optional<RaftServer.Division> here = division(catalogShard);
    if (here.isEmpty() || !here.get().getInfo().isLeaderReady()) {
      return CompletableFuture.completedFuture(
          new LogAnswer.NotGiven<>(calls.notLeader(catalogShard)));
    }
    return calls.configure(catalogShard, here.get().getRaftConf(), voters, learners);
  }

  @Override
  public AutoCloseable onChange(CatalogChangeListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /** Tells how to reach a catalog shard that this host has no replica of. */
  public void learn(int catalogShard, List<NodeId> members) {
    calls.learn(catalogShard, members);
  }

  /** How this host's replicas are, by catalog shard; one that is starting is left out. */
  public List<ReplicaStatus> status() {
    List<ReplicaStatus> all = new ArrayList<>();
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      int number = shard;
      division(shard)
          .filter(it -> it.getInfo().getLifeCycleState() == LifeCycle.State.RUNNING)
          .ifPresent(it -> all.add(ReplicaStatuses.of(number, it)));
    }
    return all;
  }

  private Optional<RaftGroup> localLeaderHint(int catalogShard) {
    return division(catalogShard).map(RaftServer.Division::getGroup);
  }

  private Optional<RaftServer.Division> division(int catalogShard) {
    if (closed || !has(catalogShard)) {
      return Optional.empty();
    }
    try {
      return Optional.of(server.getDivision(groups.id(catalogShard)));
    } catch (IOException goneMeanwhile) {
      return Optional.empty();
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    founding.shutdownNow();
    calls.close();
    server.close();
  }
}
