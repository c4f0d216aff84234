package io.orbitkv.journal;

import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Makes a checkpoint whenever a part is complete, by folding the part onto the checkpoint before
 * it, and then deletes what the retention no longer wants. It works from the files alone, on a
 * thread of its own, so the loop never waits for it and the live state is never shared.
 */
final class Checkpointer implements JournalKeeper.RollListener {
  /**
   * A start that had to fold more facts than this makes a checkpoint at once, so that the next one
   * need not.
   */
  static final long FACTS_WORTH_A_CHECKPOINT = 100_000;

  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long CLOSE_MILLIS = 10_000;

  private final Path dir;
  private final Retention retention;
  private final UUID journalId;
  private final Thread thread;

  private long firstLivePart;
  private volatile long goal;
  private volatile long checkpointPosition;
  private volatile long totalBytes;
  private volatile int parts;
  private volatile boolean stopping;
  private volatile @Nullable String problem;

  Checkpointer(Path dir, Retention retention, UUID journalId, long checkpointPosition) {
    this.dir = dir;
    this.retention = retention;
    this.journalId = journalId;
    this.checkpointPosition = checkpointPosition;
    this.goal = checkpointPosition;
    this.thread = Thread.ofPlatform().daemon().name("journal-checkpoint").unstarted(this::keep);
  }

  /**
   * Begins to work.
   *
   * @param livePart number of the part that is being written; those before it are complete
   */
  void start(long livePart, long foldedFacts, long lastPosition) {
    firstLivePart = livePart;
    if (foldedFacts > FACTS_WORTH_A_CHECKPOINT) {
      goal = lastPosition;
    }
    thread.start();
  }

  @Override
  public void rolled(long part, long lastPosition) {
    goal = lastPosition;
    LockSupport.unpark(thread);
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
    boolean trimmed = false;
    while (!stopping) {
      long target = goal;
      try {
        if (!trimmed) {
          PartTrimmer.trimBefore(dir, firstLivePart);
          trimmed = true;
        }
        if (checkpointPosition < target) {
          makeCheckpoint(target);
        }
        RetentionKeeper.Usage usage =
            new RetentionKeeper(dir, retention).run(System.currentTimeMillis());
        totalBytes = usage.bytes();
        parts = usage.parts();
        problem = null;
      } catch (IOException | RuntimeException e) {
        problem = "making a checkpoint failed: " + e.getMessage();
      }
      if (goal == target) {
        LockSupport.parkNanos(this, problem == null ? IDLE_NANOS : RETRY_NANOS);
      }
    }
  }

  private void makeCheckpoint(long target) throws IOException {
    ReplayOptions options = ReplayOptions.QUICK.toPosition(target);
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
    Checkpoint.write(dir, journalId, state);
    checkpointPosition = target;
  }
}
