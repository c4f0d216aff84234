package io.orbitkv.catalog.inventory;

import io.orbitkv.catalog.calls.Backoff;
import io.orbitkv.state.catalog.NodeId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Steps this host's senders, one for each catalog shard and replica, on one thread. It sleeps until
 * a reply comes, the journal moves on, or {@value #IDLE_MILLIS} ms have passed.
 */
public final class InventoryAnnouncer implements AutoCloseable {
  /** The longest sleep: back-offs and silence are seen that late. */
  static final int IDLE_MILLIS = 20;

  /** The shortest time between two rounds, so that changes that come singly travel together. */
  static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final int SNAPSHOTS_AT_ONE_TIME = 4;
  private static final int FIRST_WAIT_MILLIS = 50;
  private static final int LONGEST_WAIT_MILLIS = 2000;

  private final OwnerRun run;
  private final InventorySource source;
  private final InventoryDialer dialer;
  private final RandomGenerator random;
  private final LongSupplier clock;
  private final SnapshotPermits permits = new SnapshotPermits(SNAPSHOTS_AT_ONE_TIME);
  private final Map<Target, InventorySender> senders = new HashMap<>();
  private volatile @Nullable Thread thread;
  private volatile boolean closed;
  private volatile boolean woken;

  private record Target(int catalogShard, NodeId replica) {}

  /**
   * An announcer of one run that sends to nobody yet.
   *
   * @param random draws the jitter of back-offs
   * @param clock nanoseconds that never fall
   */
  public InventoryAnnouncer(
      OwnerRun run,
      InventorySource source,
      InventoryDialer dialer,
      RandomGenerator random,
      LongSupplier clock) {
    this.run = run;
    this.source = source;
    this.dialer = dialer;
    this.random = random;
    this.clock = clock;
    source.onAdvance(this::wake);
  }

  /** Starts the thread. */
  public synchronized void start() {
    if (thread == null && !closed) {
      thread = Thread.ofPlatform().name("orbitkv-announcer").daemon().start(this::loop);
    }
  }

  /**
   * Names all replicas of a catalog shard, those that join it included. Streams to others end, new
   * ones begin.
   */
  public synchronized void announce(int catalogShard, Set<NodeId> replicas) {
    senders
        .entrySet()
        .removeIf(
            entry -> {
              Target target = entry.getKey();
              if (target.catalogShard != catalogShard || replicas.contains(target.replica)) {
                return false;
              }
              entry.getValue().close();
              return true;
            });
    for (NodeId replica : replicas) {
      senders.computeIfAbsent(new Target(catalogShard, replica), this::sender);
    }
    wake();
  }

  private InventorySender sender(Target target) {
    return new InventorySender(
        target.catalogShard,
        target.replica,
        run,
        source,
        dialer,
        permits,
        new Backoff(FIRST_WAIT_MILLIS, LONGEST_WAIT_MILLIS, random),
        clock,
        this::wake);
  }

  /** Steps every sender once; true when one did something. The thread calls it, or a test. */
  synchronized boolean step() {
    boolean worked = false;
    for (InventorySender sender : senders.values()) {
      worked |= sender.step();
    }
    return worked;
  }

  /** How each stream is, by catalog shard and replica. */
  public synchronized List<SenderStatus> status() {
    List<SenderStatus> all = new ArrayList<>();
    senders.values().forEach(sender -> all.add(sender.status()));
    all.sort(
        Comparator.comparingInt(SenderStatus::catalogShard).thenComparing(SenderStatus::replica));
    return all;
  }

  private void wake() {
    if (!woken) {
      woken = true;
      LockSupport.unpark(thread);
    }
  }

  private void loop() {
    while (!closed) {
      woken = false;
      long roundAt = System.nanoTime();
      step();
      sleepUntil(roundAt + TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS), true);
      sleepUntil(roundAt + GATHER_NANOS, false);
    }
  }

  /** Sleeps until a time, or until it is woken if that may end it. */
  private void sleepUntil(long until, boolean wakeEnds) {
    long left = until - System.nanoTime();
    while (left > 0 && !closed && !(wakeEnds && woken)) {
      LockSupport.parkNanos(this, left);
      left = until - System.nanoTime();
    }
  }

  /** Ends the thread and all streams, within a second. */
  @Override
  public void close() {
    Thread running;
    synchronized (this) {
      closed = true;
      running = thread;
    }
    LockSupport.unpark(running);
    if (running != null) {
      try {
        running.join(TimeUnit.SECONDS.toMillis(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    synchronized (this) {
      senders.values().forEach(InventorySender::close);
      senders.clear();
    }
  }
}
