package io.orbitkv.core.copy;

import io.orbitkv.core.checksum.Checksum;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Scatters leased blocks from extents into an engine's pages, and proves each against the sum that
 * was journaled when it was published.
 *
 * <p>Without layer progress, blocks go one after the other, whole: an extent is read once, end to
 * end. With it, layers go one after the other over all blocks, so that the engine's first layer can
 * start while the last is on its way; a layer counts as done when every block's bytes of it, and of
 * every layer before it, lie in place and were verified.
 */
public final class RestoreCopy extends CopyTask {

  /**
   * Blocks of one group. Arrays are parallel, in the order of the lease, and belong to the task.
   */
  @SuppressWarnings("ArrayRecordComponent") // columns of a job, never compared as values
  public record GroupBlocks(
      GroupLayout layout,
      int[] destinationBlocks,
      long[] extentOffsets,
      long[] checksums,
      long[] blockIds) {}

  /**
   * Told how many leading layers are in place; called from workers, never with a smaller number
   * than before.
   */
  @FunctionalInterface
  public interface LayerProgress {
    void layersInPlace(int layers);
  }

  /** A block whose bytes are not what was published. */
  public record Mismatch(long blockId, long expected, long actual) {}

  /** One part: some blocks, whole or of one layer. */
  private record Part(int group, int layerIndex, int rank, int from, int to) {}

  private static final int WHOLE_BLOCKS = -1;

  private final EngineBuffers buffers;
  private final List<GroupBlocks> groups;
  private final MemorySegment pool;
  private final boolean verify;
  private final @Nullable LayerProgress progress;
  private final List<Part> parts = new ArrayList<>();
  private final AtomicIntegerArray partsLeftByRank;
  private final AtomicReference<@Nullable Mismatch> mismatch = new AtomicReference<>();
  private final long bytes;
  private int ranksInPlace;

  /**
   * Plans the parts; nothing is copied yet.
   *
   * @param groups at least one block in all
   * @param verify whether bytes are compared with the journaled sums
   * @param progress null when the caller waits for the whole
   */
  public RestoreCopy(
      long restoreId,
      EngineBuffers buffers,
      List<GroupBlocks> groups,
      MemorySegment pool,
      boolean verify,
      @Nullable LayerProgress progress) {
    super(restoreId);
    this.buffers = buffers;
    this.groups = groups;
    this.pool = pool;
    this.verify = verify;
    this.progress = progress;
    int ranks = progress == null ? cutByBlocks() : cutByLayers();
    this.partsLeftByRank = new AtomicIntegerArray(Math.max(1, ranks));
    for (Part part : parts) {
      partsLeftByRank.incrementAndGet(part.rank());
    }
    long total = 0;
    for (GroupBlocks group : groups) {
      total += group.layout().payloadBytes() * group.destinationBlocks().length;
    }
    this.bytes = total;
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("a restore moves at least one block");
    }
  }

  @Override
  public EngineBuffers buffers() {
    return buffers;
  }

  List<GroupBlocks> groups() {
    return groups;
  }

  boolean verify() {
    return verify;
  }

  /** Whether layers go one after the other. */
  boolean layered() {
    return progress != null;
  }

  @Nullable LayerProgress progress() {
    return progress;
  }

  /** The first block found damaged; null if all were right. */
  public @Nullable Mismatch mismatch() {
    return mismatch.get();
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public boolean urgent() {
    return true;
  }

  @Override
  protected int parts() {
    return parts.size();
  }

  @Override
  protected void copyPart(int index) {
    Part part = parts.get(index);
    GroupBlocks group = groups.get(part.group());
    for (int i = part.from(); i < part.to(); i++) {
      boolean intact =
          part.layerIndex() == WHOLE_BLOCKS
              ? restoreBlock(group, i)
              : restoreLayer(group, i, part.layerIndex());
      if (!intact) {
        return;
      }
    }
    Checksum.fence();
    if (progress != null && partsLeftByRank.decrementAndGet(part.rank()) == 0) {
      announce();
    }
  }

  private boolean restoreBlock(GroupBlocks group, int i) {
    GroupLayout layout = group.layout();
    long total = 0;
    for (int layer = 0; layer < layout.layerCount(); layer++) {
      total +=
          buffers.scatter(
              layout,
              layer,
              group.destinationBlocks()[i],
              pool,
              group.extentOffsets()[i],
              verify,
              streaming());
    }
    return !verify || matches(group, i, total);
  }

  private boolean restoreLayer(GroupBlocks group, int i, int layer) {
    GroupLayout layout = group.layout();
    long extentOffset = group.extentOffsets()[i];
    if (!verify) {
      buffers.scatter(
          layout, layer, group.destinationBlocks()[i], pool, extentOffset, false, streaming());
      return true;
    }
    long promised = 0;
    for (int l = 0; l < layout.layerCount(); l++) {
      promised += storedSum(layout, extentOffset, l);
    }
    if (!matches(group, i, promised)) {
      return false;
    }
    long stored = storedSum(layout, extentOffset, layer);
    long actual =
        buffers.scatter(
            layout, layer, group.destinationBlocks()[i], pool, extentOffset, true, streaming());
    return matches(group, i, promised - stored + actual);
  }

  long storedSum(GroupLayout layout, long extentOffset, int layer) {
    return pool.get(PublishCopy.SUM, extentOffset + layout.trailerOffset() + 8L * layer);
  }

  /** Whether a block's sum is that of its publish; otherwise the task stops. */
  boolean matches(GroupBlocks group, int i, long sumOfLayers) {
    long expected = group.checksums()[i];
    long actual = Checksum.finish(sumOfLayers, group.layout().payloadBytes());
    if (expected == actual) {
      return true;
    }
    mismatch.compareAndSet(null, new Mismatch(group.blockIds()[i], expected, actual));
    stop();
    return false;
  }

  private synchronized void announce() {
    int before = ranksInPlace;
    while (ranksInPlace < partsLeftByRank.length() && partsLeftByRank.get(ranksInPlace) == 0) {
      ranksInPlace++;
    }
    if (ranksInPlace > before && progress != null) {
      progress.layersInPlace(ranksInPlace);
    }
  }

  private int cutByBlocks() {
    for (int g = 0; g < groups.size(); g++) {
      int blocks = groups.get(g).destinationBlocks().length;
      cut(g, WHOLE_BLOCKS, 0, blocks, groups.get(g).layout().payloadBytes());
    }
    return 1;
  }

  private int cutByLayers() {
    record Layer(int group, int index, int number) {}
    List<Layer> layers = new ArrayList<>();
    for (int g = 0; g < groups.size(); g++) {
      GroupLayout layout = groups.get(g).layout();
      if (groups.get(g).destinationBlocks().length > 0) {
        for (int l = 0; l < layout.layerCount(); l++) {
          layers.add(new Layer(g, l, layout.layer(l).layer()));
        }
      }
    }
    layers.sort(Comparator.comparingInt(Layer::number));
    for (int rank = 0; rank < layers.size(); rank++) {
      Layer layer = layers.get(rank);
      GroupBlocks group = groups.get(layer.group());
      cut(
          layer.group(),
          layer.index(),
          rank,
          group.destinationBlocks().length,
          group.layout().layer(layer.index()).blockBytes());
    }
    return layers.size();
  }

  private void cut(int group, int layerIndex, int rank, int blocks, long blockBytes) {
    int perPart = (int) Math.max(1, PART_BYTES / Math.max(1, blockBytes));
    for (int from = 0; from < blocks; from += perPart) {
      parts.add(new Part(group, layerIndex, rank, from, Math.min(blocks, from + perPart)));
    }
  }
}
