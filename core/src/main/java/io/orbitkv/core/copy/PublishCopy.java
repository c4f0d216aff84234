package io.orbitkv.core.copy;

import io.orbitkv.core.checksum.Checksum;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Gathers blocks of one group from an engine's pages into extents, and sums them. */
public final class PublishCopy extends CopyTask {
  static final ValueLayout.OfLong SUM =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final EngineBuffers buffers;
  private final GroupLayout layout;
  private final int[] sourceBlocks;
  private final long[] extentOffsets;
  private final MemorySegment pool;
  private final long[] checksums;
  private final int blocksPerPart;

  /**
   * Plans the parts; nothing is copied yet.
   *
   * @param sourceBlocks index of each block in the engine's pages
   * @param extentOffsets where each block goes in the pool
   */
  public PublishCopy(
      long publishId,
      EngineBuffers buffers,
      GroupLayout layout,
      int[] sourceBlocks,
      long[] extentOffsets,
      MemorySegment pool) {
    super(publishId);
    if (sourceBlocks.length == 0 || sourceBlocks.length != extentOffsets.length) {
      throw new IllegalArgumentException(
          sourceBlocks.length + " blocks, " + extentOffsets.length + " extents");
    }
    this.buffers = buffers;
    this.layout = layout;
    this.sourceBlocks = sourceBlocks;
    this.extentOffsets = extentOffsets;
    this.pool = pool;
    this.checksums = new long[sourceBlocks.length];
    this.blocksPerPart = (int) Math.max(1, PART_BYTES / Math.max(1, layout.payloadBytes()));
  }

  @Override
  public EngineBuffers buffers() {
    return buffers;
  }

  GroupLayout layout() {
    return layout;
  }

  int[] sourceBlocks() {
    return sourceBlocks;
  }

  long[] extentOffsets() {
    return extentOffsets;
  }

  MemorySegment pool() {
    return pool;
  }

  /** The checksum of each extent, valid when the task has ended without failure. */
  public long[] checksums() {
    return checksums;
  }

  @Override
  public long bytes() {
    return layout.payloadBytes() * sourceBlocks.length;
  }

  @Override
  public boolean urgent() {
    return false;
  }

  @Override
  protected int parts() {
    return (sourceBlocks.length + blocksPerPart - 1) / blocksPerPart;
  }

  @Override
  protected void copyPart(int part) {
    int end = Math.min(sourceBlocks.length, (part + 1) * blocksPerPart);
    for (int i = part * blocksPerPart; i < end; i++) {
      long total = 0;
      for (int layer = 0; layer < layout.layerCount(); layer++) {
        long sum =
            buffers.gather(layout, layer, sourceBlocks[i], pool, extentOffsets[i], streaming());
        pool.set(SUM, extentOffsets[i] + layout.trailerOffset() + 8L * layer, sum);
        total += sum;
      }
      checksums[i] = Checksum.finish(total, layout.payloadBytes());
    }
  }
}
