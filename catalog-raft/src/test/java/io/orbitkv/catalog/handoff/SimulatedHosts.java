package io.orbitkv.catalog.handoff;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.placement.CatalogChangeListener;
import io.orbitkv.catalog.placement.CatalogLog;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogState;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Hosts with one log for each of some catalog shards, on one thread. Whatever a host asks for waits
 * in {@link #pending} until the test does it, loses it, does it twice, or loses its answer. What a
 * host's own replica has applied lags behind; a host that led may still take itself for the leader,
 * and a leader's change of voters can arrive when another leads.
 *
 * <p>Every command that is applied is checked: generations move by one, nobody who had not caught
 * up is in a placement that a handoff makes, and of every placement one member has a whole table.
 */
final class SimulatedHosts {
  final Map<NodeId, Host> hosts = new TreeMap<>();
  final Map<Integer, Shard> shards = new TreeMap<>();
  final List<Call<?>> pending = new ArrayList<>();
  long nanos;

  /** A host; its log dies with it, and a new one is made at its next start. */
  final class Host {
    final NodeId node;
    boolean up = true;
    int starts;
    Log log;

    Host(NodeId node) {
      this.node = node;
      this.log = new Log(this);
    }
  }

  /** One catalog shard as it really is. */
  static final class Shard {
    final CatalogState state;
    final List<CatalogView> history = new ArrayList<>();
    final Map<NodeId, Integer> applied = new TreeMap<>();
    final Set<NodeId> believers = new TreeSet<>();
    final Set<NodeId> whole = new TreeSet<>();
    final Set<NodeId> caughtUp = new TreeSet<>();
    Set<NodeId> voters;
    Set<NodeId> learners = Set.of();
    NodeId leader;

    Shard(int number, List<NodeId> members) {
      state = new CatalogState(number);
      state.apply(new CatalogCommand.Found(members));
      history.add(CatalogView.of(state));
      voters = new TreeSet<>(members);
      whole.addAll(members);
      leader = members.getFirst();
      believers.add(leader);
      members.forEach(member -> applied.put(member, 0));
    }

    CatalogView now() {
      return history.getLast();
    }

    Placement placement() {
      Placement placement = now().placement();
      if (placement == null) {
        throw new AssertionError("it was founded");
      }
      return placement;
    }

    /** Those who should have a table. */
    Set<NodeId> holders() {
      Set<NodeId> holders = new TreeSet<>(placement().members());
      Handoff handoff = now().handoff();
      if (handoff != null) {
        holders.addAll(handoff.target());
        holders.addAll(handoff.former());
      }
      return holders;
    }
  }

  /** Something that a host asked for. */
  final class Call<T> {
    final Host from;
    private final int start;
    private final Supplier<T> deed;
    private final T unanswered;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final String what;

    Call(Host from, String what, Supplier<T> deed, T unanswered) {
      this.from = from;
      this.start = from.starts;
      this.what = what;
      this.deed = deed;
      this.unanswered = unanswered;
    }

    /** It is done, and answered unless its host died meanwhile. */
    void run() {
      answer(deed.get());
    }

    /** It is done, and nobody hears of it. */
    void runUnheard() {
      var _ = deed.get();
      answer(unanswered);
    }

    /** It is done, and once more later. */
    void runTwice() {
      pending.add(new Call<>(from, what, deed, unanswered));
      run();
    }

    /** It gets lost. */
    void lose() {
      answer(unanswered);
    }

    private void answer(T value) {
      if (from.up && from.starts == start) {
        answer.complete(value);
      }
    }

    @Override
    public String toString() {
      return from.node + ": " + what;
    }
  }

  SimulatedHosts(List<NodeId> nodes) {
    nodes.forEach(node -> hosts.put(node, new Host(node)));
  }

  void found(int shard, List<NodeId> members) {
    shards.put(shard, new Shard(shard, members));
  }

  Host host(NodeId node) {
    return Objects.requireNonNull(hosts.get(node), "no such host");
  }

  Shard shard(int number) {
    return Objects.requireNonNull(shards.get(number), "no such catalog shard");
  }

  private <T> CompletableFuture<T> ask(Host from, String what, Supplier<T> deed, T unanswered) {
    Call<T> call = new Call<>(from, what, deed, unanswered);
    pending.add(call);
    return call.answer;
  }

  // ---- what befalls hosts

  Set<NodeId> live() {
    Set<NodeId> live = new TreeSet<>();
    hosts.values().stream().filter(host -> host.up).forEach(host -> live.add(host.node));
    return live;
  }

  /** A host dies, with what it had in memory. */
  void crash(NodeId node) {
    host(node).up = false;
    for (Shard shard : shards.values()) {
      shard.whole.remove(node);
      shard.believers.remove(node);
      if (node.equals(shard.leader)) {
        elect(shard, null);
      }
    }
  }

  void restart(NodeId node) {
    Host host = host(node);
    host.up = true;
    host.starts++;
    host.log = new Log(host);
    shards.values().stream().filter(shard -> !isLed(shard)).forEach(shard -> elect(shard, null));
  }

  /** A voter that is there leads; whoever led before may not have heard of it. */
  void elect(Shard shard, @Nullable NodeId wanted) {
    if (!hasMajority(shard.voters)) {
      shard.believers.clear();
      return;
    }
    NodeId leader =
        wanted != null && shard.voters.contains(wanted) && host(wanted).up
            ? wanted
            : shard.voters.stream().filter(it -> host(it).up).findFirst().orElseThrow();
    shard.leader = leader;
    shard.believers.add(leader);
    shard.applied.put(leader, shard.history.size() - 1); // it leads once it has applied all before
  }

  boolean isLed(Shard shard) {
    return hasMajority(shard.voters) && shard.believers.contains(shard.leader);
  }

  /** Deposed leaders hear of it. */
  void tellDeposed(Shard shard) {
    shard.believers.removeIf(it -> !it.equals(shard.leader));
  }

  private boolean hasMajority(Set<NodeId> voters) {
    return 2 * voters.stream().filter(it -> host(it).up).count() > voters.size();
  }

  /** A replica applies one more entry. */
  void apply(Shard shard, NodeId node) {
    Integer at = shard.applied.get(node);
    if (at != null && at < shard.history.size() - 1) {
      shard.applied.put(node, at + 1);
    }
  }

  /** Tables of those that should have one become whole; others let go of theirs. */
  void stream(Shard shard, NodeId node) {
    if (host(node).up && shard.holders().contains(node)) {
      shard.whole.add(node);
      shard.caughtUp.add(node);
    } else {
      shard.whole.remove(node);
    }
  }

  CompletableFuture<Boolean> isWhole(Host from, NodeId host, int shard) {
    return ask(
        from,
        "is " + host + " whole",
        () -> host(host).up && shard(shard).whole.contains(host),
        false);
  }

  // ---- the log

  private List<CatalogAnswer> commit(Shard shard, List<CatalogCommand> commands) {
    List<CatalogAnswer> answers = new ArrayList<>();
    for (CatalogCommand command : commands) {
      CatalogView before = shard.now();
      answers.add(shard.state.apply(command));
      CatalogView after = CatalogView.of(shard.state);
      if (after.position() == before.position()) {
        continue;
      }
      shard.history.add(after);
      check(shard, before, after);
    }
    return answers;
  }

  private static void check(Shard shard, CatalogView before, CatalogView after) {
    if (after.lastAttempt() > before.lastAttempt()) {
      shard.caughtUp.clear();
      shard.caughtUp.addAll(shard.whole);
    }
    Placement was = before.placement();
    Placement is = after.placement();
    if (was != null && is != null && !was.equals(is)) {
      must(is.generation() == was.generation() + 1, is + " follows " + was);
      for (NodeId member : is.members()) {
        must(
            was.members().contains(member) || shard.caughtUp.contains(member),
            member + " had not caught up in " + after.handoff());
      }
    }
    must(
        shard.placement().members().stream().anyMatch(shard.whole::contains),
        "nobody has a whole table of " + shard.placement());
  }

  private static void must(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private boolean reconfigure(Shard shard, List<NodeId> voters, List<NodeId> learners) {
    shard.voters = new TreeSet<>(voters);
    shard.learners = new TreeSet<>(learners);
    Set<NodeId> replicas = new HashSet<>(shard.voters);
    replicas.addAll(shard.learners);
    shard.applied.keySet().retainAll(replicas);
    replicas.forEach(it -> shard.applied.putIfAbsent(it, shard.history.size() - 1));
    shard.believers.retainAll(shard.voters);
    if (!shard.voters.contains(shard.leader)) {
      elect(shard, null);
    }
    return true;
  }

  /** The log as one run of one host reaches it. */
  final class Log implements CatalogLog {
    private final Host host;

    Log(Host host) {
      this.host = host;
    }

    private <T> LogAnswer<T> none() {
      return new LogAnswer.NotGiven<>(
          new Refusal(RefusalCategory.UNAVAILABLE, "no leader answered", "wait"));
    }

    @Override
    public CompletableFuture<LogAnswer<List<CatalogAnswer>>> propose(
        int catalogShard, List<CatalogCommand> commands) {
      Shard shard = shard(catalogShard);
      return ask(
          host,
          "propose " + commands,
          () -> isLed(shard) ? new LogAnswer.Given<>(commit(shard, commands)) : none(),
          none());
    }

    @Override
    public CompletableFuture<LogAnswer<CatalogView>> read(int catalogShard) {
      Shard shard = shard(catalogShard);
      return ask(
          host, "read", () -> isLed(shard) ? new LogAnswer.Given<>(shard.now()) : none(), none());
    }

    @Override
    public Optional<CatalogView> local(int catalogShard) {
      Shard known = shards.get(catalogShard);
      Integer at = known == null ? null : known.applied.get(host.node);
      return at == null ? Optional.empty() : Optional.of(shard(catalogShard).history.get(at));
    }

    @Override
    public boolean leads(int catalogShard) {
      Shard known = shards.get(catalogShard);
      return known != null && host.up && known.believers.contains(host.node);
    }

    @Override
    public CompletableFuture<LogAnswer<Boolean>> configure(
        int catalogShard, List<NodeId> voters, List<NodeId> learners) {
      Shard shard = shard(catalogShard);
      if (!leads(catalogShard)) {
        return CompletableFuture.completedFuture(none());
      }
      if (shard.voters.equals(Set.copyOf(voters)) && shard.learners.equals(Set.copyOf(learners))) {
        return CompletableFuture.completedFuture(new LogAnswer.Given<>(false));
      }
      // Whoever leads when it arrives takes it, as a leader's client would send it on.
      return ask(
          host,
          "configure " + voters + " " + learners,
          () ->
              isLed(shard) && hasMajority(new TreeSet<>(voters))
                  ? new LogAnswer.Given<>(reconfigure(shard, voters, learners))
                  : none(),
          none());
    }

    @Override
    public AutoCloseable onChange(CatalogChangeListener listener) {
      throw new UnsupportedOperationException("nobody listens here");
    }
  }
}
