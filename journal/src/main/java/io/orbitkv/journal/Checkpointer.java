package io.orbitkv.journal;

import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Makes a checkpoint whenever a part is complete, and inside a part whenever enough facts lie
 * behind the last checkpoint, by folding them onto that one; then deletes what the retention no
 * longer wants. It works from the files alone, on a thread of its own, so the loop never waits for
 * it and the live state is never shared.
 *
 * <p>What a start folds is bounded by this: the facts between two checkpoints, and those that were
 * appended while the later one was being made. A checkpoint costs as much as there are blocks, so
 * with many of them the distance grows to an eighth as many facts as blocks.
 */
final class Checkpointer implements JournalKeeper.RollListener {
  /**
   * A start that had to fold more facts than this makes a checkpoint soon, so that the next one
   * need not.
   */
  static final long FACTS_WORTH_A_CHECKPOINT = 100_000;

  /**
   * How soon: not while the rest of the start wants the processors, as the checkpoint costs as much
   * as the fold did.
   */
  private static final long AFTER_START_NANOS = TimeUnit.SECONDS.toNanos(5);

  /**
   * Of a checkpoint, for one fact behind it: then the facts take a start no longer than the blocks.
   */
  private static final int BLOCKS_PER_FACT = 8;

  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long CLOSE_MILLIS = 10_000;

  /** How often a full disk is looked at. */
  private static final long FULL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long FULL_RETRY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Path dir;
  private final JournalOptions options;
  private final UUID journalId;
  private final Thread thread;

  private long firstLivePart;
  private volatile long livePart;

  /** The end of the last complete part; retention needs a checkpoint there. */
  private volatile long partEnd;

  private volatile long goal;
  private volatile long liveBlocks;

  /** What the disk must have free before a checkpoint is tried again; 0 unless it was full. */
  private long neededBytes;

  private long fullAtNanos;
  private volatile long checkpointPosition;
  private volatile long totalBytes;
  private volatile int parts;
  private volatile boolean stopping;
  private volatile @Nullable String problem;

  Checkpointer(Path dir, JournalOptions options, UUID journalId, long checkpointPosition) {
    this.dir = dir;
    this.options = options;
    this.journalId = journalId;
    this.checkpointPosition = checkpointPosition;
    this.goal = checkpointPosition;
    this.partEnd = checkpointPosition;
    this.thread = Thread.ofPlatform().daemon().name("journal-checkpoint").unstarted(this::keep);
  }

  /**
   * Begins to work.
   *
   * @param livePart number of the part that is being written; those before it are complete
   */
  void start(long livePart, long foldedFacts, long lastPosition, long liveBlocks)
      throws IOException {
    firstLivePart = livePart;
    this.livePart = livePart;
    this.liveBlocks = liveBlocks;
    count();
    if (foldedFacts > Math.min(FACTS_WORTH_A_CHECKPOINT, options.checkpointFacts())) {
      goal = lastPosition;
    }
    thread.start();
  }

  @Override
  public void rolled(long part, long lastPosition) {
    livePart = part + 1;
    partEnd = lastPosition;
    LockSupport.unpark(thread);
  }

  @Override
  public void appended(long position) {
    if (position - Math.max(goal, partEnd)
        >= Math.max(options.checkpointFacts(), liveBlocks / BLOCKS_PER_FACT)) {
      goal = position;
      LockSupport.unpark(thread);
    }
  }

  @Override
  public long checkpointPosition() {
    return checkpointPosition;
  }

  @Override
  public long totalBytes() {
    return totalBytes;
  }

  @Override
  public int parts() {
    return parts;
  }

  @Override
  public @Nullable String problem() {
    return problem;
  }

  @Override
  public void close() {
    stopping = true;
    LockSupport.unpark(thread);
    try {
      if (thread.isAlive() && !thread.join(Duration.ofMillis(CLOSE_MILLIS))) {
        throw new IllegalStateException("journal-checkpoint did not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while closing the journal", e);
    }
  }

  private void keep() {
    if (goal > checkpointPosition) {
      letTheStartPass(goal);
    }
    boolean trimmed = false;
    while (!stopping) {
      long target = target();
      try {
        if (!trimmed) {
          PartTrimmer.trimBefore(dir, firstLivePart);
          trimmed = true;
        }
        boolean full = isFull();
        if (!full && checkpointPosition < target) {
          makeCheckpoint(target);
          RetentionKeeper.dropPassed(dir);
        }
        new RetentionKeeper(dir, options.retention()).run(System.currentTimeMillis());
        count();
        if (!full) {
          problem = null;
        }
      } catch (IOException | RuntimeException e) {
        problem = "making a checkpoint failed: " + e.getMessage();
      }
      if (neededBytes > 0) {
        LockSupport.parkNanos(this, FULL_NANOS);
      } else if (target() == target) {
        LockSupport.parkNanos(this, problem == null ? IDLE_NANOS : RETRY_NANOS);
      }
    }
  }

  /** Returns earlier when more than the start's checkpoint is due. */
  private void letTheStartPass(long startGoal) {
    long end = System.nanoTime() + AFTER_START_NANOS;
    for (long left = AFTER_START_NANOS;
        left > 0 && !stopping && target() == startGoal;
        left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  /** Whether the disk that had no room for a checkpoint still has none. */
  private boolean isFull() throws IOException {
    if (neededBytes == 0) {
      return false;
    }
    boolean due = System.nanoTime() - fullAtNanos > FULL_RETRY_NANOS; // it may do with less
    if (!due && Files.getFileStore(dir).getUsableSpace() < neededBytes) {
      return true;
    }
    neededBytes = 0;
    problem = null; // the checkpoint that comes now takes its time
    return false;
  }

  private long target() {
    long end = partEnd;
    return end > checkpointPosition ? end : Math.max(end, goal);
  }

  private void count() throws IOException {
    RetentionKeeper.Usage usage = RetentionKeeper.usage(dir, livePart);
    totalBytes = usage.bytes();
    parts = usage.parts();
  }

  private void makeCheckpoint(long target) throws IOException {
    ReplayOptions options = ReplayOptions.QUICK.toPosition(target).onOneThread();
    Replay replay =
        Replayer.run(
            JournalReader.open(dir),
            options,
            new ReplayHooks() {
              @Override
              public boolean stop() {
                return stopping;
              }
            });
    HostState state = replay.state();
    if (replay.ending() instanceof Replay.Ending.Stopped) {
      return;
    }
    if (!(replay.ending() instanceof Replay.Ending.Complete) || state.position() != target) {
      throw new IOException(
          "folding to position %d ended at %d: %s"
              .formatted(target, state.position(), replay.ending()));
    }
    liveBlocks = state.liveBlocks();
    try {
      Checkpoint.write(dir, journalId, state);
    } catch (IOException e) {
      if (DiskFull.is(e)) {
        neededBytes = state.heapBytes(); // more than the file takes
        fullAtNanos = System.nanoTime();
      }
      throw e;
    }
    checkpointPosition = target;
  }
}
