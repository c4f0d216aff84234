package io.orbitkv.core.copy;

import io.orbitkv.core.ssd.SliceShape;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Looks whether extents that an earlier run left in the pool still hold what was published, block
 * by block. It changes nothing, so it may go on over an extent that is given to another block
 * meanwhile; the loop then ignores what it found.
 */
public final class VerifyCopy extends CopyTask {
  /** One extent, and what its bytes must sum up to. */
  public record Slice(long poolOffset, int bytes, long checksum, SliceShape shape) {}

  private final MemorySegment pool;
  private final long[] blockIds;
  private final Slice[][] slices;
  private final long[][] sums;
  private final boolean[] looked;
  private final long bytes;

  /**
   * @param lookId a number of its own
   * @param blockIds at least one; the array is owned
   * @param slices of each block; the arrays are owned
   */
  public VerifyCopy(long lookId, MemorySegment pool, long[] blockIds, Slice[][] slices) {
    super(lookId);
    this.pool = pool;
    this.blockIds = blockIds;
    this.slices = slices;
    this.sums = new long[slices.length][];
    this.looked = new boolean[slices.length];
    long total = 0;
    for (int block = 0; block < slices.length; block++) {
      sums[block] = new long[slices[block].length];
      for (Slice slice : slices[block]) {
        total += slice.bytes;
      }
    }
    this.bytes = total;
  }

  public int blocks() {
    return blockIds.length;
  }

  public long blockId(int block) {
    return blockIds[block];
  }

  /** Allocated bytes of a block's slices. */
  public long bytes(int block) {
    long total = 0;
    for (Slice slice : slices[block]) {
      total += slice.bytes;
    }
    return total;
  }

  /** Whether every byte of the block was read; what follows holds for such blocks only. */
  public boolean looked(int block) {
    return looked[block];
  }

  /** The first slice of a block that has another sum than was published, -1 if none has. */
  public int firstDamaged(int block) {
    for (int slice = 0; slice < sums[block].length; slice++) {
      if (sums[block][slice] != slices[block][slice].checksum) {
        return slice;
      }
    }
    return -1;
  }

  public long expected(int block, int slice) {
    return slices[block][slice].checksum;
  }

  /** The sum that was found. */
  public long actual(int block, int slice) {
    return sums[block][slice];
  }

  /** None: it looks at the pool alone. */
  @Override
  public @Nullable EngineBuffers buffers() {
    return null;
  }

  /** All allocated bytes; no engine's are moved. */
  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public boolean urgent() {
    return false;
  }

  @Override
  protected int parts() {
    return blockIds.length;
  }

  @Override
  protected void copyPart(int part) {
    for (int slice = 0; slice < slices[part].length; slice++) {
      Slice at = slices[part][slice];
      sums[part][slice] = at.shape.checksum(pool, at.poolOffset, at.checksum);
    }
    looked[part] = true;
  }
}
