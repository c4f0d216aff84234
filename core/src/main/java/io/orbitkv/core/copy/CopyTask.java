package io.orbitkv.core.copy;

import io.orbitkv.core.checksum.Checksum;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Copies that belong to one publish or restore, or a look at what lies in the pool, cut in parts
 * that workers take in order. The task is over when its last part is; then, and not before, its
 * pages and extents may be reused. A cancelled or failed task skips the parts that have not begun.
 */
public abstract sealed class CopyTask permits PublishCopy, RestoreCopy, VerifyCopy {
  /**
   * Parts are cut to about this size, so that several workers share a task and a load can overtake
   * a save.
   */
  static final int PART_BYTES = 1 << 20;

  /**
   * From here on a copy would push out of the caches what others have there, and itself before it
   * is read.
   */
  private static final long STREAMED_BYTES = 4 << 20;

  private final long operationId;
  private final AtomicInteger nextPart = new AtomicInteger();
  private final AtomicInteger finishedParts = new AtomicInteger();
  private volatile boolean stopped;
  private volatile @Nullable String failure;
  private volatile boolean cancelled;

  protected CopyTask(long operationId) {
    this.operationId = operationId;
  }

  /** The publish or restore id of the facts; of a {@link VerifyCopy} a number of its own. */
  public final long operationId() {
    return operationId;
  }

  /** The pages that it copies from or to; null if it touches none. */
  public abstract @Nullable EngineBuffers buffers();

  /** Bytes of the engine that this task moves. */
  public abstract long bytes();

  /** Loads overtake saves: somebody's first token waits for them. */
  public abstract boolean urgent();

  /** Whether the copy is so large that it should go around the caches. */
  protected final boolean streaming() {
    return bytes() >= STREAMED_BYTES;
  }

  protected abstract int parts();

  protected abstract void copyPart(int part);

  /**
   * Asks that no further part begins. The task still ends only when the parts that run have ended.
   */
  public final void cancel() {
    cancelled = true;
    stopped = true;
  }

  public final boolean cancelled() {
    return cancelled;
  }

  /** Why a copy failed; null if none did. */
  public final @Nullable String failure() {
    return failure;
  }

  /** Ends the task early without calling it a failure of the copy. */
  protected final void stop() {
    stopped = true;
  }

  /** Whether no further part should begin. */
  final boolean stopped() {
    return stopped;
  }

  /** The copy cannot be made; the first reason counts. */
  final void fail(String reason) {
    if (failure == null) {
      failure = reason;
    }
    stopped = true;
  }

  /** Runs everything on the calling thread. */
  public final void runHere() {
    while (runNextPart() == Progress.MORE) {}
  }

  enum Progress {
    /** There may be another part to take. */
    MORE,
    /** Every part is taken; another worker will finish the last one. */
    TAKEN,
    /** This call finished the last part of the task. */
    FINISHED
  }

  final Progress runNextPart() {
    int part = nextPart.getAndIncrement();
    int parts = parts();
    if (part >= parts) {
      return Progress.TAKEN;
    }
    if (!stopped) {
      try {
        copyPart(part);
      } catch (RuntimeException | InternalError fault) {
        // A page that the engine's memfd no longer backs arrives as InternalError; the daemon lives
        // on.
        failure = fault.toString();
        stopped = true;
      }
      Checksum.fence();
    }
    return finishedParts.incrementAndGet() == parts ? Progress.FINISHED : Progress.MORE;
  }

  final boolean hasUntakenParts() {
    return nextPart.get() < parts();
  }
}
