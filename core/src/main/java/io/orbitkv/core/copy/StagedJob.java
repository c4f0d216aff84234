package io.orbitkv.core.copy;

import org.jspecify.annotations.Nullable;

/**
 * A publish or restore on its way through a staging ring, chunk by chunk. It is over when no chunk
 * is under way and none will begin. Mover thread.
 */
abstract sealed class StagedJob permits StagedLoad, StagedSave {
  private final CopyTask task;
  private int underWay;

  StagedJob(CopyTask task) {
    this.task = task;
  }

  final CopyTask task() {
    return task;
  }

  /** The next chunk, null when there is none or none should begin any more. */
  final @Nullable Chunk next() {
    Chunk chunk = task.stopped() ? null : plan();
    if (chunk != null) {
      underWay++;
    }
    return chunk;
  }

  /** Whether a chunk may still begin. */
  final boolean hasNext() {
    return !task.stopped() && !planned();
  }

  /** The engine has done its part, or the copy has. */
  abstract void chunkDone(Chunk chunk, SlotBoard board, int slot);

  /** The chunk is over, done or not. */
  final void chunkEnded() {
    underWay--;
  }

  final boolean over() {
    return underWay == 0 && !hasNext();
  }

  abstract int[] pages(Chunk chunk);

  abstract SlotBoard.Work work(Chunk chunk);

  abstract boolean planned();

  /** Called while {@link #planned} does not hold. */
  abstract @Nullable Chunk plan();
}
