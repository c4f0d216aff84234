package io.orbitkv.core.copy;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Pages on a GPU that only their engine reaches. The Manager reaches the slots of a staging ring on
 * the same GPU; the {@link GpuMover} of that GPU brings blocks from the pool to the slots and back,
 * and the engine's kernel does the rest, see {@link SlotBoard}.
 */
public final class StagedBuffers implements EngineBuffers {
  public static final String KIND = "cuda_staged";

  private final Map<Integer, GroupLayout> layouts;
  private final GpuMover mover;
  private final StagingRing ring;
  private final Runnable release;
  private final Consumer<String> keep;
  private boolean closed;

  /**
   * @param layouts by group
   * @param mover of the GPU they are on
   * @param ring the slots
   * @param release closes the ring's memory and the board, once, when nothing uses them
   * @param keep told why they cannot be closed, instead
   */
  public StagedBuffers(
      Map<Integer, GroupLayout> layouts,
      GpuMover mover,
      StagingRing ring,
      Runnable release,
      Consumer<String> keep) {
    this.layouts = Map.copyOf(layouts);
    this.mover = mover;
    this.ring = ring;
    this.release = release;
    this.keep = keep;
  }

  public StagingRing ring() {
    return ring;
  }

  void submit(CopyTask task) {
    mover.submit(ring, task);
  }

  @Override
  public @Nullable GroupLayout layout(int groupId) {
    return layouts.get(groupId);
  }

  @Override
  public boolean mapped() {
    return false;
  }

  @Override
  public void engineGone() {
    ring.engineGone();
  }

  @Override
  public long gather(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean streaming) {
    throw new IllegalStateException("the Manager does not reach these pages");
  }

  @Override
  public long scatter(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean verify,
      boolean streaming) {
    throw new IllegalStateException("the Manager does not reach these pages");
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      String undrained = ring.undrained();
      if (undrained == null) {
        release.run();
      } else {
        keep.accept(undrained);
      }
    }
  }
}
