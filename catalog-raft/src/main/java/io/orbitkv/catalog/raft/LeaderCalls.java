package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.NodeId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.exceptions.AlreadyExistsException;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls to the leaders of catalog shards, this host's own or others'. One client for each catalog
 * shard that was asked for, made anew when its members are others. Calls block threads of their
 * own: what Ratis offers instead sends in order, and nothing more after one request that failed.
 * Every call ends within the answer's time; that nobody leads, that too few are alive and that the
 * network is cut look alike from here, so they are told alike.
 */
final class LeaderCalls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderCalls.class);
  private static final long RETRY_MILLIS = 100;

  /** What a change of members may take, in times of an answer: a new one is sent the log first. */
  private static final int CONFIGURE_ANSWERS = 10;

  /** For all catalog shards; each blocks a virtual thread. */
  private static final int MOST_CALLS = 256;

  private static final Message READ = Message.valueOf(ByteString.EMPTY);

  private record Client(RaftGroup group, RaftClient raft) {}

  private final RaftOptions options;
  private final CatalogGroups groups;
  private final IntFunction<Optional<RaftGroup>> own;
  private final Map<Integer, List<NodeId>> known = new ConcurrentHashMap<>();
  private final Map<Integer, Client> clients = new ConcurrentHashMap<>();
  private final ExecutorService callers =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("catalog-call-", 0).factory());
  private final Semaphore underWay = new Semaphore(MOST_CALLS);
  private volatile boolean closed;

  /**
   * @param own the group of this host's replica, if it has one
   */
  LeaderCalls(RaftOptions options, CatalogGroups groups, IntFunction<Optional<RaftGroup>> own) {
    this.options = options;
    this.groups = groups;
    this.own = own;
  }

  void learn(int catalogShard, List<NodeId> members) {
    known.put(catalogShard, List.copyOf(members));
  }

  CompletableFuture<LogAnswer<List<CatalogAnswer>>> propose(
      int catalogShard, List<CatalogCommand> commands) {
    Message message = Message.valueOf(LogCodec.commands(commands));
    return call(
        catalogShard,
        client -> client.io().send(message),
        bytes -> LogCodec.answers(catalogShard, bytes));
  }

  CompletableFuture<LogAnswer<CatalogView>> read(int catalogShard) {
    return call(catalogShard, client -> client.io().sendReadOnly(READ), LogCodec::view);
  }

  private interface Call {
    RaftClientReply with(RaftClient client) throws IOException;
  }

  private interface Reader<T> {
    T read(ByteString bytes) throws LogCodec.Malformed;
  }

  private <T> CompletableFuture<LogAnswer<T>> call(int catalogShard, Call call, Reader<T> reader) {
    RaftClient client = client(catalogShard);
    if (client == null || closed) {
      return CompletableFuture.completedFuture(new LogAnswer.NotGiven<>(unreachable(catalogShard)));
    }
    return timed(options.answerTimeoutMillis(), () -> call.with(client))
        .handle((reply, failure) -> answer(catalogShard, reply, failure, reader));
  }

  private interface Blocking<T> {
    T get() throws IOException;
  }

  /**
   * Blocks a thread of its own, which is interrupted when the time is over: Ratis would try again
   * for much longer.
   */
  private <T> CompletableFuture<T> timed(long millis, Blocking<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    if (!underWay.tryAcquire()) {
      result.completeExceptionally(new IOException(MOST_CALLS + " calls are under way"));
      return result;
    }
    Future<?> caller;
    try {
      caller =
          callers.submit(
              () -> {
                try {
                  result.complete(task.get());
                } catch (IOException | RuntimeException failed) {
                  result.completeExceptionally(failed);
                } finally {
                  underWay.release();
                }
              });
    } catch (RejectedExecutionException closing) {
      underWay.release();
      result.completeExceptionally(closing);
      return result;
    }
    return result
        .orTimeout(millis, TimeUnit.MILLISECONDS)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                caller.cancel(true);
              }
            });
  }

  private <T> LogAnswer<T> answer(
      int catalogShard,
      @Nullable RaftClientReply reply,
      @Nullable Throwable failure,
      Reader<T> reader) {
    if (reply == null || !reply.isSuccess()) {
      Throwable why = reply == null ? failure : reply.getException();
      LOG.debug("catalog shard {}: {}", catalogShard, String.valueOf(why));
      return new LogAnswer.NotGiven<>(silent(catalogShard));
    }
    try {
      return new LogAnswer.Given<>(reader.read(reply.getMessage().getContent()));
    } catch (LogCodec.Malformed malformed) {
      LOG.warn("catalog shard {} answered: {}", catalogShard, malformed.getMessage());
      return new LogAnswer.NotGiven<>(
          new Refusal(
              RefusalCategory.INTERNAL,
              "catalog shard %d: %s".formatted(catalogShard, malformed.getMessage()),
              "bring all hosts to one version"));
    }
  }

  // ---- who replicates
  // -----------------------------------------------------------------------------------------------

  CompletableFuture<LogAnswer<Boolean>> configure(
      int catalogShard, RaftConfiguration now, List<NodeId> voters, List<NodeId> learners) {
    List<RaftPeer> newVoters = groups.peers(voters, RaftPeerRole.FOLLOWER);
    List<RaftPeer> newLearners = groups.peers(learners, RaftPeerRole.LISTENER);
    if (newVoters.size() != voters.size() || newLearners.size() != learners.size()) {
      return CompletableFuture.completedFuture(new LogAnswer.NotGiven<>(unreachable(catalogShard)));
    }
    Collection<RaftPeer> oldVoters = now.getCurrentPeers(RaftPeerRole.FOLLOWER);
    Collection<RaftPeer> oldLearners = now.getCurrentPeers(RaftPeerRole.LISTENER);
    if (ids(oldVoters).equals(ids(newVoters)) && ids(oldLearners).equals(ids(newLearners))) {
      return CompletableFuture.completedFuture(new LogAnswer.Given<>(false));
    }
    RaftClient client = client(catalogShard);
    if (client == null) {
      return CompletableFuture.completedFuture(new LogAnswer.NotGiven<>(unreachable(catalogShard)));
    }
    return timed(
            CONFIGURE_ANSWERS * (long) options.answerTimeoutMillis(),
            () -> {
              reconfigure(client, catalogShard, oldVoters, oldLearners, newVoters, newLearners);
              return true;
            })
        .handle(
            (done, failure) -> {
              if (done != null) {
                return new LogAnswer.Given<>(done);
              }
              LOG.warn("catalog shard {}: members stay: {}", catalogShard, String.valueOf(failure));
              return new LogAnswer.NotGiven<>(
                  new Refusal(
                      RefusalCategory.UNAVAILABLE,
                      "catalog shard %d could not take %s for its members: %s"
                          .formatted(catalogShard, voters, failure),
                      "see that all of them run and reach each other; it is tried again"));
            });
  }

  private void reconfigure(
      RaftClient client,
      int catalogShard,
      Collection<RaftPeer> oldVoters,
      Collection<RaftPeer> oldLearners,
      List<RaftPeer> newVoters,
      List<RaftPeer> newLearners)
      throws IOException {
    Set<RaftPeerId> before = ids(oldVoters);
    before.addAll(ids(oldLearners));
    List<RaftPeer> after = new ArrayList<>(newVoters);
    after.addAll(newLearners);
    for (RaftPeer peer : after) {
      if (!before.contains(peer.getId())) {
        begin(catalogShard, peer);
      }
    }
    RaftClientReply reply =
        client
            .admin()
            .setConfiguration(
                SetConfigurationRequest.Arguments.newBuilder()
                    .setServersInNewConf(newVoters)
                    .setListenersInNewConf(newLearners)
                    .setServersInCurrentConf(List.copyOf(oldVoters))
                    .setListenersInCurrentConf(List.copyOf(oldLearners))
                    // A leader that was deposed meanwhile must not undo what the next one did.
                    .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                    .build());
    if (!reply.isSuccess()) {
      throw new IOException(String.valueOf(reply.getException()));
    }
    Set<RaftPeerId> leaving = before;
    leaving.removeAll(ids(after));
    for (RaftPeer peer : oldVoters) {
      if (leaving.contains(peer.getId())) {
        end(catalogShard, peer);
      }
    }
    for (RaftPeer peer : oldLearners) {
      if (leaving.contains(peer.getId())) {
        end(catalogShard, peer);
      }
    }
  }

  /** Gives a host an empty group: it stands for no election and waits for the leader. */
  private void begin(int catalogShard, RaftPeer peer) throws IOException {
    try (RaftClient client = build(RaftGroup.valueOf(groups.id(catalogShard), peer))) {
      client
          .getGroupManagementApi(peer.getId())
          .add(RaftGroup.valueOf(groups.id(catalogShard)), true);
    } catch (AlreadyExistsException there) {
      LOG.debug("{} has catalog shard {} already", peer.getId(), catalogShard);
    }
  }

  /** Has a host that left drop its log; if it is away, it is told again when it leaves for good. */
  private void end(int catalogShard, RaftPeer peer) {
    try (RaftClient client = build(RaftGroup.valueOf(groups.id(catalogShard), peer))) {
      client.getGroupManagementApi(peer.getId()).remove(groups.id(catalogShard), true, false);
    } catch (GroupMismatchException gone) {
      LOG.debug("{} has no catalog shard {} any more", peer.getId(), catalogShard);
    } catch (IOException | RuntimeException away) {
      LOG.info(
          "{} keeps its log of catalog shard {}: {}", peer.getId(), catalogShard, away.toString());
    }
  }

  private static Set<RaftPeerId> ids(Collection<RaftPeer> peers) {
    return peers.stream().map(RaftPeer::getId).collect(Collectors.toCollection(HashSet::new));
  }

  // ---- clients
  // ------------------------------------------------------------------------------------------------------

  private @Nullable RaftClient client(int catalogShard) {
    Optional<RaftGroup> group =
        own.apply(catalogShard)
            .filter(it -> !it.getPeers().isEmpty())
            .or(() -> groups.group(catalogShard, known.getOrDefault(catalogShard, List.of())));
    if (closed || group.isEmpty() || group.get().getPeers().isEmpty()) {
      return null;
    }
    Client client =
        clients.compute(
            catalogShard,
            (_, old) -> {
              if (old != null && old.group().equals(group.get())) {
                return old;
              }
              if (old != null) {
                shut(old);
              }
              return new Client(group.get(), build(group.get()));
            });
    return client.raft();
  }

  private RaftClient build(RaftGroup group) {
    int retries = (int) Math.max(1, options.answerTimeoutMillis() / RETRY_MILLIS);
    return RaftClient.newBuilder()
        .setProperties(RaftSettings.properties(options))
        .setParameters(RaftSettings.parameters(options))
        .setRaftGroup(group)
        .setRetryPolicy(
            RetryPolicies.retryUpToMaximumCountWithFixedSleep(
                retries, RaftSettings.millis(RETRY_MILLIS)))
        .build();
  }

  private static void shut(Client client) {
    try {
      client.raft().close();
    } catch (IOException failed) {
      LOG.debug("a client was not closed well: {}", failed.toString());
    }
  }

  // ---- words
  // --------------------------------------------------------------------------------------------------------

  Refusal notLeader(int catalogShard) {
    return new Refusal(
        RefusalCategory.UNAVAILABLE,
        "this host does not lead catalog shard " + catalogShard,
        "ask its leader: orbitkv catalog placement");
  }

  private Refusal silent(int catalogShard) {
    return new Refusal(
        RefusalCategory.UNAVAILABLE,
        "no leader of catalog shard %d answered within %d ms"
            .formatted(catalogShard, options.answerTimeoutMillis()),
        "a majority of its members must run and reach each other: orbitkv catalog placement");
  }

  private Refusal unreachable(int catalogShard) {
    return new Refusal(
        RefusalCategory.UNAVAILABLE,
        "not every member of catalog shard %d is known with its address".formatted(catalogShard),
        "wait until they have joined: orbitkv members");
  }

  @Override
  public void close() {
    closed = true;
    callers.shutdownNow();
    clients.values().forEach(LeaderCalls::shut);
    clients.clear();
  }
}
