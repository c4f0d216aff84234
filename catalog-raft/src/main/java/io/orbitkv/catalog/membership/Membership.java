package io.orbitkv.catalog.membership;

import io.etcd.jetcd.Watch;
import io.orbitkv.catalog.calls.Backoff;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.membership.EtcdStore.Contents;
import io.orbitkv.catalog.membership.EtcdStore.Put;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This host's place among the others, kept in etcd under {@code /orbitkv/CLUSTER/}:
 *
 * <pre>
 *   format          version of all this
 *   hosts           the catalog's host set
 *   epochs/NODE     how often NODE was started
 *   members/NODE    its record, under its lease
 * </pre>
 *
 * <p>One thread talks to etcd, one operation at a time. It renews the lease, and at each change
 * that a watch tells, and every {@value #READ_MILLIS} ms in any case, it reads everything at one
 * revision. A watch that breaks, a compaction or a change that was not told cost a read, never a
 * wrong snapshot. Nothing that others call here waits for etcd, except the futures that say so.
 */
public final class Membership implements AutoCloseable {
  /** The version of records and keys that this code writes and reads. */
  public static final int FORMAT_VERSION = 1;

  static final long READ_MILLIS = 5000;
  private static final long CLOSE_MILLIS = 500;
  private static final int MAX_TASKS = 64;
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);

  private final MembershipConfig config;
  private final LongSupplier clock;
  private final Lease lease;
  private final Backoff backoff;
  private final long ttlNanos;
  private final long operationMillis;
  private final BlockingQueue<Task> tasks = new ArrayBlockingQueue<>(MAX_TASKS);
  private final List<Consumer<MemberSnapshot>> listeners = new CopyOnWriteArrayList<>();
  private final CompletableFuture<JoinOutcome> joined = new CompletableFuture<>();
  private final Thread thread;
  private volatile MemberSnapshot snapshot = MemberSnapshot.NONE;
  private volatile boolean closed;
  private final AtomicLong attempts = new AtomicLong();

  // Of the thread only.
  private @Nullable EtcdStore store;
  private Watch.@Nullable Watcher watcher;
  private @Nullable Object watchToken;
  private @Nullable MemberRecord record;
  private long leaseId;
  private long renewAt;
  private long readAt;
  private long conflictSince;
  private boolean conflict;
  private boolean refused;

  /** What the thread does next when it is not its own work. */
  private sealed interface Task {
    /** Something changed, or the thread should look. */
    record Look() implements Task {}

    /** The watch cannot go on. */
    record WatchEnded(Object token) implements Task {}

    /** Agree on the host set, or replace it. */
    record Hosts(HostSet hosts, boolean replace, CompletableFuture<HostsOutcome> done)
        implements Task {}
  }

  private Membership(
      MembershipConfig config, RandomGenerator random, LongSupplier clock, InstantSource wall) {
    this.config = config;
    this.clock = clock;
    this.lease = new Lease(clock, wall);
    this.ttlNanos = config.leaseTtl().toNanos();
    this.operationMillis = Math.clamp(config.leaseTtl().toMillis() / 6, 300, 1000);
    this.backoff = new Backoff(100, Math.min(1000, config.leaseTtl().toMillis() / 3), random);
    this.thread = Thread.ofPlatform().name("orbitkv-membership").daemon().unstarted(this::loop);
  }

  /**
   * Begins to take part. It returns at once; {@link #joined} tells what came of it.
   *
   * @param random draws the jitter of back-offs
   * @param clock nanoseconds that never fall
   * @param wall the time of day, for people
   */
  public static Membership start(
      MembershipConfig config, RandomGenerator random, LongSupplier clock, InstantSource wall) {
    Membership membership = new Membership(config, random, clock, wall);
    membership.thread.start();
    return membership;
  }

  /** Whether this host became a member. It stays open while etcd is away. */
  public CompletableFuture<JoinOutcome> joined() {
    return joined.copy();
  }

  /** The members as they were read last. Never waits. */
  public MemberSnapshot snapshot() {
    return snapshot;
  }

  /** Whether work with other hosts may begin. Never waits, and is right also when etcd hangs. */
  public RemoteAdmission admission() {
    return lease.admission();
  }

  /** How often etcd was asked for something. */
  public long attempts() {
    return attempts.get();
  }

  /** Has each new snapshot told, by the membership thread, which must not be held up. */
  public void onChange(Consumer<MemberSnapshot> listener) {
    listeners.add(listener);
  }

  /** Proposes the host set; the one that was agreed first stays. It is done when etcd answers. */
  public CompletableFuture<HostsOutcome> agreeHosts(HostSet hosts) {
    return submit(hosts, false);
  }

  /** Replaces the host set, on an administrator's order. It is done when etcd answers. */
  public CompletableFuture<HostsOutcome> replaceHosts(HostSet hosts) {
    return submit(hosts, true);
  }

  private CompletableFuture<HostsOutcome> submit(HostSet hosts, boolean replace) {
    CompletableFuture<HostsOutcome> done = new CompletableFuture<>();
    if (closed || !tasks.offer(new Task.Hosts(hosts, replace, done))) {
      done.complete(hostsRefused("membership is closing or busy", "try again"));
    }
    return done;
  }

  private void look() {
    tasks.offer(new Task.Look()); // with a full queue it will look anyway
  }

  private void loop() {
    try {
      while (!closed) {
        long wait;
        try {
          wait = refused ? READ_MILLIS * 1_000_000 : work();
        } catch (EtcdTrouble e) {
          lease.trouble(String.valueOf(e.getMessage()));
          if (record == null) {
            lease.lost(String.valueOf(e.getMessage()));
          }
          wait = backoff.nextNanos();
        }
        Task task = tasks.poll(wait, TimeUnit.NANOSECONDS);
        if (task != null && !closed) {
          take(task);
        }
      }
    } catch (InterruptedException e) {
      // close() wants it to end.
    } catch (RuntimeException e) {
      LOG.error("Membership stopped: restart this daemon", e);
      lease.lost("membership stopped: " + e);
    }
  }

  /** Does what is due and says how long nothing will be. */
  private long work() throws EtcdTrouble, InterruptedException {
    EtcdStore etcd = store;
    if (etcd == null) {
      etcd = new EtcdStore(config.etcd(), config.prefix(), operationMillis);
      store = etcd;
    }
    long now = clock.getAsLong();
    if (record == null || leaseId == 0) {
      Contents contents = read(etcd);
      if (!join(etcd, contents)) {
        return TimeUnit.MILLISECONDS.toNanos(200);
      }
      read(etcd);
      MemberRecord made = record;
      if (made != null) {
        joined.complete(new JoinOutcome.Joined(made));
      }
    } else if (now - renewAt >= 0) {
      renew(etcd);
    }
    if (leaseId != 0 && (watcher == null || clock.getAsLong() - readAt >= 0)) {
      read(etcd);
      if (watcher == null) {
        watch(etcd);
      }
    }
    backoff.reset();
    now = clock.getAsLong();
    return leaseId == 0 ? 0 : Math.max(0, Math.min(renewAt - now, readAt - now));
  }

  private void watch(EtcdStore etcd) {
    Object token = new Object();
    watchToken = token;
    watcher =
        etcd.watch(
            snapshot.revision(),
            this::look,
            () -> {
              if (!closed) {
                tasks.offer(new Task.WatchEnded(token));
              }
            });
  }

  private void take(Task task) throws InterruptedException {
    switch (task) {
      case Task.Look _ -> {
        tasks.removeIf(Task.Look.class::isInstance);
        readAt = clock.getAsLong();
      }
      case Task.WatchEnded(Object token) -> {
        Watch.Watcher current = watcher;
        if (current != null && token.equals(watchToken)) {
          current.close();
          watcher = null;
          Thread.sleep(50); // a watch that ends at once must not turn this into a spin
        }
      }
      case Task.Hosts hosts -> hosts.done.complete(decide(hosts));
    }
  }

  private Contents read(EtcdStore etcd) throws EtcdTrouble, InterruptedException {
    attempts.incrementAndGet();
    Contents contents = etcd.read();
    readAt = clock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(READ_MILLIS);
    TreeMap<NodeId, MemberRecord> members = new TreeMap<>();
    contents
        .values()
        .forEach(
            (key, value) -> {
              if (key.startsWith("members/")) {
                MemberRecord.parse(value.text())
                    .filter(member -> key.equals("members/" + member.node()))
                    .ifPresent(member -> members.put(member.node(), member));
              }
            });
    Optional<HostSet> hosts =
        Optional.ofNullable(contents.values().get("hosts"))
            .flatMap(value -> HostSet.parse(value.text()));
    MemberSnapshot before = snapshot;
    MemberSnapshot now = new MemberSnapshot(contents.revision(), members, hosts);
    snapshot = now;
    if (!now.isSameAs(before)) {
      for (Consumer<MemberSnapshot> listener : listeners) {
        listener.accept(now);
      }
    }
    return contents;
  }

  private boolean join(EtcdStore etcd, Contents contents) throws EtcdTrouble, InterruptedException {
    EtcdStore.Value format = contents.values().get("format");
    if (format != null && !format.text().equals(Integer.toString(FORMAT_VERSION))) {
      refuse(
          "cluster %s has format %s, and this version writes %d"
              .formatted(config.cluster(), format.text(), FORMAT_VERSION),
          "run one version on all hosts, or another --cluster");
      return false;
    }
    String memberKey = "members/" + config.node();
    MemberRecord live = snapshot.members().get(config.node());
    if (live != null && !live.runtime().equals(config.runtime())) {
      return waitFor(live);
    }
    conflict = false;
    EtcdStore.Value epochValue = contents.values().get("epochs/" + config.node());
    long known = epochValue == null ? 0 : Long.parseLong(epochValue.text());
    MemberRecord before = record;
    if (before != null && known > before.epoch()) {
      refuse(
          "%s was started again, with epoch %d, while this run with epoch %d was away"
              .formatted(config.node(), known, before.epoch()),
          "stop one of the two");
      return false;
    }
    long epoch = before == null ? known + 1 : before.epoch();
    long sentAt = clock.getAsLong();
    attempts.incrementAndGet();
    long granted = etcd.grant(config.leaseTtl().toSeconds());
    MemberRecord made =
        new MemberRecord(
            config.node(),
            config.peer(),
            config.catalog(),
            config.transfer(),
            config.carrier(),
            config.runtime(),
            epoch,
            FORMAT_VERSION);
    String epochKey = "epochs/" + config.node();
    Map<String, Long> unchanged = new HashMap<>();
    unchanged.put("format", contents.modRevision("format"));
    unchanged.put(epochKey, contents.modRevision(epochKey));
    unchanged.put(memberKey, contents.modRevision(memberKey));
    attempts.incrementAndGet();
    boolean written =
        etcd.write(
            unchanged,
            List.of(
                new Put("format", Integer.toString(FORMAT_VERSION), 0),
                new Put(epochKey, Long.toString(epoch), 0),
                new Put(memberKey, made.toText(), granted)));
    if (!written) {
      etcd.revoke(granted, operationMillis);
      return false;
    }
    leaseId = granted;
    record = made;
    hold(sentAt);
    LOG.info("{} is a member of {} with epoch {}", config.node(), config.cluster(), epoch);
    return true;
  }

  /** A record of another run: if its daemon is dead it runs out; if not, this one may not start. */
  private boolean waitFor(MemberRecord live) {
    long now = clock.getAsLong();
    if (!conflict) {
      conflict = true;
      conflictSince = now;
    }
    String reason =
        "node id %s is live with runtime %s at %s"
            .formatted(config.node(), live.runtime(), live.peer());
    if (now - conflictSince > ttlNanos + TimeUnit.SECONDS.toNanos(2)) {
      refuse(reason, "give this host another --node-id, or stop the daemon there");
    } else {
      lease.lost(reason + "; if that daemon is dead, its record runs out soon");
    }
    return false;
  }

  private void refuse(String reason, String remedy) {
    refused = true;
    lease.lost(reason);
    LOG.error("Not a member: {}; {}", reason, remedy);
    joined.complete(new JoinOutcome.Refused(new Refusal(RefusalCategory.USER, reason, remedy)));
  }

  private void renew(EtcdStore etcd) throws EtcdTrouble, InterruptedException {
    long sentAt = clock.getAsLong();
    attempts.incrementAndGet();
    if (etcd.renew(leaseId)) {
      hold(sentAt);
      return;
    }
    leaseId = 0;
    lease.lost("etcd does not know the lease any more");
  }

  private void hold(long sentAt) {
    // A tenth is left for clocks that run at different speeds.
    lease.held(sentAt + ttlNanos - ttlNanos / 10);
    renewAt = sentAt + ttlNanos / 3;
  }

  private HostsOutcome decide(Task.Hosts task) throws InterruptedException {
    EtcdStore etcd = store;
    if (etcd == null || refused) {
      return hostsRefused("this host is not a member", "wait until it is");
    }
    try {
      Contents contents = read(etcd);
      if (!task.replace && snapshot.hosts().isPresent()) {
        return new HostsOutcome.Agreed(snapshot.hosts().get());
      }
      attempts.incrementAndGet();
      boolean written =
          etcd.write(
              Map.of("hosts", contents.modRevision("hosts")),
              List.of(new Put("hosts", task.hosts.toText(), 0)));
      read(etcd);
      Optional<HostSet> now = snapshot.hosts();
      if (now.isPresent() && (written || !task.replace)) {
        return new HostsOutcome.Agreed(now.get());
      }
      return hostsRefused("another host changed it meanwhile", "look at it and try again");
    } catch (EtcdTrouble e) {
      return hostsRefused(String.valueOf(e.getMessage()), "try again when etcd answers");
    }
  }

  private static HostsOutcome hostsRefused(String reason, String remedy) {
    return new HostsOutcome.Refused(new Refusal(RefusalCategory.UNAVAILABLE, reason, remedy));
  }

  /** Leaves: others see it at once if etcd answers. It takes at most two seconds if it does not. */
  @Override
  public void close() {
    end(true);
  }

  /** Ends as a killed daemon would: its record stays until the lease runs out. */
  void abandon() {
    end(false);
  }

  private void end(boolean leave) {
    closed = true;
    lease.lost("this daemon ends");
    thread.interrupt();
    try {
      thread.join(CLOSE_MILLIS);
      EtcdStore etcd = store;
      if (etcd != null && !thread.isAlive()) {
        if (leave && leaseId != 0) {
          etcd.revoke(leaseId, CLOSE_MILLIS);
        }
        etcd.close(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (Task task : List.copyOf(tasks)) {
      if (task instanceof Task.Hosts hosts) {
        hosts.done.complete(hostsRefused("membership is closing", "try again"));
      }
    }
    joined.complete(
        new JoinOutcome.Refused(
            new Refusal(RefusalCategory.UNAVAILABLE, "this daemon ends", "start it again")));
  }
}
