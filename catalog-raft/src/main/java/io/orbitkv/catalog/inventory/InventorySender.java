package io.orbitkv.catalog.inventory;

import io.orbitkv.catalog.calls.Backoff;
import io.orbitkv.catalog.inventory.SenderStatus.Phase;
import io.orbitkv.state.catalog.NodeId;
import java.util.Iterator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one replica of one catalog shard up to date: opens a stream, sends a snapshot if the
 * replica wants one, then the changes as they come, and opens it again when it ends or nothing is
 * answered.
 *
 * <p>It is stepped by one thread; replies are queued by whoever delivers them. No more frames are
 * under way than the replica's window, so the queue of replies is bounded by that too.
 */
public final class InventorySender {
  /** With frames under way and no answer for so long, the stream is given up. */
  static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A stream without rows to send tells its position so often. */
  static final long POSITION_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** With nothing to tell at all, a frame without changes asks whether the view is still there. */
  static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** A run that was rejected asks again after so long: a fence or a placement may have changed. */
  static final long REJECTED_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final int catalogShard;
  private final NodeId replica;
  private final OwnerRun run;
  private final InventorySource source;
  private final InventoryDialer dialer;
  private final SnapshotPermits permits;
  private final Backoff backoff;
  private final LongSupplier clock;
  private final Runnable wake;

  private @Nullable Connection connection;
  private long notBefore;
  private long opened;
  private long snapshots;
  private long framesSent;
  private String lastProblem = "";
  private OptionalLong acknowledged = OptionalLong.empty();

  /**
   * A sender that opens its stream at the first step.
   *
   * @param clock nanoseconds that never fall
   * @param wake called when there is something to step for; it must return at once
   */
  InventorySender(
      int catalogShard,
      NodeId replica,
      OwnerRun run,
      InventorySource source,
      InventoryDialer dialer,
      SnapshotPermits permits,
      Backoff backoff,
      LongSupplier clock,
      Runnable wake) {
    this.catalogShard = catalogShard;
    this.replica = replica;
    this.run = run;
    this.source = source;
    this.dialer = dialer;
    this.permits = permits;
    this.backoff = backoff;
    this.clock = clock;
    this.wake = wake;
    this.notBefore = clock.getAsLong();
  }

  /** Does what can be done without waiting; true when it did something. */
  boolean step() {
    long now = clock.getAsLong();
    Connection current = connection;
    if (current == null) {
      if (now - notBefore < 0) {
        return false;
      }
      opened++;
      current = new Connection(now);
      connection = current;
      current.link = dialer.open(replica, run, catalogShard, current);
      return true;
    }
    return current.step(now);
  }

  /** Ends the stream for good. */
  void close() {
    Connection current = connection;
    if (current != null) {
      current.end();
    }
    connection = null;
    notBefore = Long.MAX_VALUE / 2 + clock.getAsLong();
  }

  SenderStatus status() {
    Connection current = connection;
    long position = source.position();
    return new SenderStatus(
        catalogShard,
        replica,
        current == null ? Phase.WAITING : current.phase,
        acknowledged,
        position - acknowledged.orElse(0),
        opened,
        snapshots,
        framesSent,
        lastProblem);
  }

  private void lost(Connection ended, String reason, long waitNanos) {
    ended.end();
    connection = null;
    lastProblem = reason;
    notBefore = clock.getAsLong() + waitNanos;
  }

  /** One stream from its opening to its end. */
  private final class Connection implements InventoryLink.Listener {
    private final ConcurrentLinkedQueue<Object> replies = new ConcurrentLinkedQueue<>();
    private @Nullable InventoryLink link;
    private Phase phase = Phase.OPENING;
    private int window;
    private long sent;
    private long consumed;
    private long heardAt;
    private long sentAt;

    /** The position that the frames sent so far lead to. */
    private long through;

    private boolean holdsPermit;
    private @Nullable Iterator<RowBatch> rows;
    private long snapshot;
    private long snapshotRows;
    private int snapshotFrames;

    Connection(long now) {
      this.heardAt = now;
    }

    @Override
    public void reply(InventoryReply reply) {
      replies.add(reply);
      wake.run();
    }

    @Override
    public void closed(String reason) {
      replies.add(reason);
      wake.run();
    }

    boolean step(long now) {
      boolean worked = false;
      for (Object next = replies.poll(); next != null; next = replies.poll()) {
        worked = true;
        heardAt = now;
        if (!take(next)) {
          return true;
        }
      }
      if (isOwedAnAnswer() && now - heardAt > SILENCE_NANOS) {
        lost(this, "no answer for " + SILENCE_NANOS / 1_000_000 + " ms", backoff.nextNanos());
        return true;
      }
      while (phase != Phase.OPENING && sent - consumed < window && sendNext(now)) {
        worked = true;
        if (connection != this) {
          return true;
        }
      }
      return worked;
    }

    /** A frame that was counted twice must not hide one that never came: the position tells. */
    private boolean isOwedAnAnswer() {
      return switch (phase) {
        case WAITING -> false;
        case OPENING -> true;
        case SNAPSHOT -> sent > consumed;
        case CHANGES -> sent > consumed || acknowledged.orElse(-1) < through;
      };
    }

    /** False when the stream is over. */
    private boolean take(Object next) {
      if (!(next instanceof InventoryReply reply)) {
        lost(this, next.toString(), backoff.nextNanos());
        return false;
      }
      return switch (reply) {
        case InventoryReply.Accepted(OptionalLong after, int frames) -> {
          window = frames;
          acknowledged = after;
          through = after.orElse(0);
          phase = after.isPresent() ? Phase.CHANGES : Phase.SNAPSHOT;
          yield true;
        }
        case InventoryReply.Progress(long frames, OptionalLong position) -> {
          consumed = Math.max(consumed, Math.min(frames, sent));
          acknowledged = position;
          backoff.reset();
          yield true;
        }
        case InventoryReply.Restart(String reason) -> {
          lost(this, reason, backoff.nextNanos());
          yield false;
        }
        case InventoryReply.Rejected(String reason, String remedy) -> {
          lost(this, reason + ": " + remedy, REJECTED_NANOS);
          yield false;
        }
      };
    }

    private boolean sendNext(long now) {
      return phase == Phase.SNAPSHOT ? sendSnapshot(now) : sendChanges(now);
    }

    private boolean sendSnapshot(long now) {
      Iterator<RowBatch> left = rows;
      if (left == null) {
        if (!permits.tryAcquire()) {
          return false;
        }
        holdsPermit = true;
        snapshots++;
        InventorySource.Snapshot copy = source.snapshot(catalogShard);
        rows = copy.batches();
        snapshotRows = copy.rows();
        through = copy.position();
        snapshot = permits.nextSnapshot();
        send(new InventoryFrame.SnapshotBegin(snapshot, through), now);
        return true;
      }
      if (left.hasNext()) {
        send(new InventoryFrame.SnapshotRows(snapshot, snapshotFrames++, left.next()), now);
        return true;
      }
      send(new InventoryFrame.SnapshotEnd(snapshot, snapshotFrames, snapshotRows), now);
      rows = null;
      releasePermit();
      phase = Phase.CHANGES;
      return true;
    }

    private boolean sendChanges(long now) {
      if (through >= source.position()) {
        if (now - sentAt < HEARTBEAT_NANOS) {
          return false;
        }
        send(new InventoryFrame.Changes(through, through, RowBatch.EMPTY), now);
        return true;
      }
      Optional<InventoryFrame.Changes> changes =
          source.changesAfter(catalogShard, through, RowBatch.MAX_ROWS);
      if (changes.isEmpty()) {
        phase = Phase.SNAPSHOT;
        snapshotFrames = 0;
        return true;
      }
      InventoryFrame.Changes frame = changes.get();
      if (frame.rows().size() == 0
          && (frame.through() == through || now - sentAt < POSITION_NANOS)) {
        return false;
      }
      through = frame.through();
      send(frame, now);
      return true;
    }

    private void send(InventoryFrame frame, long now) {
      InventoryLink to = link;
      if (to == null) {
        throw new IllegalStateException("a frame before the stream was opened");
      }
      if (sent == consumed) {
        heardAt = now; // silence counts from the first frame that is under way
      }
      sent++;
      sentAt = now;
      framesSent++;
      to.send(frame);
    }

    private void releasePermit() {
      if (holdsPermit) {
        holdsPermit = false;
        permits.release();
      }
    }

    void end() {
      releasePermit();
      InventoryLink to = link;
      if (to != null) {
        to.close();
      }
    }
  }
}
