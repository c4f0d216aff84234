package io.orbitkv.journal;

import io.orbitkv.state.HostState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Works ahead of and behind the appending thread so that it never waits: one thread reserves disk
 * blocks and prepares the next part, one flushes and closes parts that were rolled away from, and
 * the {@link Checkpointer} makes checkpoints and deletes old parts.
 *
 * <p>Parts change hands through single volatile fields: {@code prepared} goes from the reserving
 * thread to the appending one, {@code retired} from there to the flushing one. The next part is
 * prepared only when {@code retired} is empty, so at most three parts are open.
 */
final class JournalKeeper implements AutoCloseable {
  /** Blocks are reserved in steps of this size, so that a nearly full disk is used to its end. */
  static final long STEP_BYTES = 4 << 20;

  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long CLOSE_MILLIS = 10_000;

  private final Path dir;
  private final JournalOptions options;
  private final UUID journalId;
  private final long firstPart;
  private final long startPosition;
  private final RollListener rolls;
  private final Thread spaceThread;
  private final Thread flushThread;

  private volatile PartWriter current;
  private volatile @Nullable PartWriter prepared;
  private volatile @Nullable PartWriter retired;
  private volatile long retiredLastPosition;
  private volatile long position;
  private volatile long flushedPosition;
  private volatile boolean awake;
  private volatile boolean stopping;
  private volatile @Nullable String spaceProblem;
  private volatile @Nullable String flushProblem;

  /** Is told of parts that are complete and closed, and of what was appended since. */
  interface RollListener extends AutoCloseable {
    void rolled(long part, long lastPosition);

    /**
     * Called now and then, by the same thread as {@link #rolled}; every part that ended before
     * {@code position} was told of.
     */
    void appended(long position);

    long checkpointPosition();

    /** Disk space of the complete parts and of the checkpoints. */
    long totalBytes();

    /** How many parts are complete. */
    int parts();

    @Nullable String problem();

    @Override
    void close();
  }

  JournalKeeper(
      Path dir,
      JournalOptions options,
      UUID journalId,
      PartWriter current,
      long lastPosition,
      RollListener rolls) {
    this.dir = dir;
    this.options = options;
    this.journalId = journalId;
    this.current = current;
    this.firstPart = current.number();
    this.position = lastPosition;
    this.startPosition = lastPosition;
    this.flushedPosition = lastPosition;
    this.rolls = rolls;
    this.spaceThread =
        Thread.ofPlatform().daemon().name("journal-space").unstarted(this::keepSpace);
    this.flushThread =
        Thread.ofPlatform().daemon().name("journal-flush").unstarted(this::keepFlushed);
  }

  /** What is reserved when a part is made: enough for a promise and for the endings behind it. */
  static long firstReserveBytes(JournalOptions options) {
    return PartWriter.SLACK_BYTES + 2 * options.endingsReserveBytes() + STEP_BYTES;
  }

  void start() {
    spaceThread.start();
    flushThread.start();
  }

  // ---- called by the appending thread
  // ------------------------------------------------------------------------------

  void appended(long lastPosition) {
    position = lastPosition;
  }

  @Nullable PartWriter prepared() {
    return prepared;
  }

  /** Hands the full part over and takes the prepared one into use. */
  void rolled(PartWriter full, PartWriter next, long lastPosition) {
    retiredLastPosition = lastPosition;
    current = next;
    prepared = null;
    retired = full;
    wake();
    LockSupport.unpark(flushThread);
  }

  void wake() {
    if (!awake) {
      awake = true;
      LockSupport.unpark(spaceThread);
    }
  }

  void flushNow(PartWriter part, long lastPosition) {
    try {
      part.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the journal could not be written to the disk", e);
    }
    flushedPosition = lastPosition;
  }

  // ---- any thread
  // --------------------------------------------------------------------------------------------------

  JournalStats stats() {
    PartWriter part = current;
    PartWriter next = prepared;
    long reserved = part.roomBytes() + (next == null ? 0 : next.roomBytes());
    Optional<String> problem =
        Optional.ofNullable(spaceProblem)
            .or(() -> Optional.ofNullable(flushProblem))
            .or(() -> Optional.ofNullable(rolls.problem()));
    return new JournalStats(
        position,
        part.number(),
        part.end(),
        reserved,
        rolls.totalBytes() + part.end(),
        rolls.parts() + 1,
        rolls.checkpointPosition(),
        part.number() - firstPart,
        flushedPosition,
        problem);
  }

  /** Ends the threads, then closes the parts. The appending thread has stopped. */
  @Override
  public void close() {
    stopping = true;
    LockSupport.unpark(spaceThread);
    LockSupport.unpark(flushThread);
    join(spaceThread);
    join(flushThread);
    try {
      releaseRetired();
      PartWriter next = prepared;
      if (next != null) {
        next.discard();
      }
      boolean hasFacts = current.number() != firstPart || position > startPosition;
      if (hasFacts) {
        current.release();
      } else {
        current.discard();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("closing the journal", e);
    } finally {
      rolls.close();
    }
  }

  /**
   * After {@link #close}: writes a checkpoint of the state behind the last fact unless there is
   * one.
   *
   * @return whether there is one now; false also when it took too long and is given up
   */
  boolean checkpoint(HostState state, Duration limit) {
    if (rolls.checkpointPosition() >= state.position()) {
      return true;
    }
    AtomicBoolean made = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .daemon()
            .name("journal-last-checkpoint")
            .start(
                () -> {
                  try {
                    Checkpoint.write(dir, journalId, state);
                    made.set(true);
                  } catch (IOException e) {
                    spaceProblem = "no checkpoint at the end: " + e.getMessage();
                  }
                });
    try {
      return writer.join(limit) && made.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  // ---- the reserving thread
  // ----------------------------------------------------------------------------------------

  private void keepSpace() {
    while (!stopping) {
      awake = false;
      boolean ok;
      try {
        ok = reserveAhead(current) && prepareNext();
        spaceProblem =
            ok
                ? gone(current)
                : "no room on the disk of " + dir + ": free some, or lower the journal's retention";
      } catch (IOException | RuntimeException e) {
        ok = false;
        spaceProblem = "reserving journal space failed: " + e;
      }
      if (ok) {
        if (!awake) {
          LockSupport.parkNanos(this, IDLE_NANOS);
        }
      } else {
        pause(RETRY_NANOS);
      }
    }
  }

  /** A file that is deleted still takes facts, which nobody will ever read. */
  private @Nullable String gone(PartWriter part) {
    Path file = Layout.facts(Layout.part(dir, part.number()));
    return Files.exists(file)
        ? null
        : file + " was deleted: no fact outlives this process; restart the Manager";
  }

  private boolean reserveAhead(PartWriter part) throws IOException {
    while (!stopping) {
      long goal = Math.min(part.end() + options.reserveAheadBytes(), part.capacityBytes());
      if (part.reservedEnd() >= goal) {
        return true;
      }
      if (!part.extend(Math.min(goal, part.reservedEnd() + STEP_BYTES))) {
        return false;
      }
    }
    return true;
  }

  private boolean prepareNext() throws IOException {
    PartWriter part = current;
    PartWriter next = prepared;
    if (next != null) {
      return reserveAhead(next);
    }
    long left = part.capacityBytes() - part.end();
    boolean soon = left < Math.max(part.capacityBytes() / 4, 2 * options.reserveAheadBytes());
    if (retired != null || !(soon || isOld(part))) {
      return true;
    }
    Optional<PartWriter> made =
        PartWriter.create(
            dir,
            part.number() + 1,
            options.partBytes(),
            firstReserveBytes(options),
            options.reserver(),
            new PartOpened(journalId, part.number() + 1),
            wallMicros());
    if (made.isEmpty()) {
      return false;
    }
    PartWriter ready = made.get();
    boolean ok = reserveAhead(ready);
    prepared = ready;
    return ok;
  }

  /** Prepares a while before the age is reached, so that the roll finds the next part ready. */
  private boolean isOld(PartWriter part) {
    long ageMicros = wallMicros() - part.openedMicros();
    return ageMicros > options.partAge().toNanos() / 1000 * 9 / 10;
  }

  // ---- the flushing thread
  // -----------------------------------------------------------------------------------------

  private void keepFlushed() {
    long intervalNanos =
        options.sync() instanceof SyncMode.Background(int millis)
            ? TimeUnit.MILLISECONDS.toNanos(millis)
            : IDLE_NANOS;
    while (!stopping) {
      try {
        long upTo = position; // before the look for a retired part: no part ends below it unseen
        releaseRetired();
        rolls.appended(upTo);
        if (options.sync() instanceof SyncMode.Background && flushedPosition < position) {
          flushCurrent();
        }
        flushProblem = null;
      } catch (IOException | RuntimeException e) {
        flushProblem = "flushing the journal failed: " + e;
      }
      LockSupport.parkNanos(this, intervalNanos);
    }
  }

  private void flushCurrent() throws IOException {
    long upTo = position;
    current.flush();
    if (retired == null) {
      flushedPosition = upTo;
    }
  }

  private void releaseRetired() throws IOException {
    PartWriter full = retired;
    if (full == null) {
      return;
    }
    long lastPosition = retiredLastPosition;
    full.release();
    retired = null;
    wake();
    rolls.rolled(full.number(), lastPosition);
  }

  private void pause(long nanos) {
    long until = System.nanoTime() + nanos;
    for (long left = nanos; left > 0 && !stopping; left = until - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  private static void join(Thread thread) {
    try {
      if (!thread.join(Duration.ofMillis(CLOSE_MILLIS))) {
        throw new IllegalStateException(
            thread.getName() + " did not end in " + CLOSE_MILLIS + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while closing the journal", e);
    }
  }

  private static long wallMicros() {
    return System.currentTimeMillis() * 1000;
  }
}
