package io.orbitkv.core.ssd;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that go to SSD or come back from it together, slice by slice. The loop makes it, the store
 * fills the results in, and the loop reads them when the task has ended.
 */
public final class SsdTask {
  /** The bytes were moved, and of a read had their sum. */
  public static final int DONE = 0;

  /** The device moved fewer bytes than asked. */
  public static final int SHORT = -1;

  /** What was read has another sum than was written. */
  public static final int CHECKSUM = -2;

  /** Not begun: the store was closed, or nobody wanted it any more. */
  public static final int CANCELLED = -3;

  /**
   * Where one slice lies on SSD and in the pool.
   *
   * @param generation of the SSD extent
   * @param proof what the bytes must sum up to, null where nothing is checked (writes)
   */
  public record Slice(
      int file,
      long fileOffset,
      long poolOffset,
      int bytes,
      long generation,
      @Nullable Proof proof) {}

  /** The sum of an extent's bytes, and how they are cut in layers. */
  public record Proof(long checksum, SliceShape shape) {}

  private final long id;
  private final boolean read;
  private final long[] blockIds;
  private final Slice[][] slices;
  private final int[][] results;
  private final long[][] sums;
  private final int sliceCount;
  private final long bytes;
  private volatile boolean stopped;

  /**
   * @param id the loop's number of it
   * @param blockIds in request order; the array is owned
   * @param slices of each block; the arrays are owned
   */
  public SsdTask(long id, boolean read, long[] blockIds, Slice[][] slices) {
    this.id = id;
    this.read = read;
    this.blockIds = blockIds;
    this.slices = slices;
    this.results = new int[slices.length][];
    this.sums = new long[slices.length][];
    long total = 0;
    int count = 0;
    for (int block = 0; block < slices.length; block++) {
      results[block] = new int[slices[block].length];
      Arrays.fill(results[block], CANCELLED);
      sums[block] = new long[slices[block].length];
      count += slices[block].length;
      for (Slice slice : slices[block]) {
        total += slice.bytes;
      }
    }
    this.sliceCount = count;
    this.bytes = total;
  }

  public long id() {
    return id;
  }

  /** Whether it reads from SSD; otherwise it writes. */
  public boolean isRead() {
    return read;
  }

  public int blocks() {
    return blockIds.length;
  }

  public long blockId(int block) {
    return blockIds[block];
  }

  public int slices(int block) {
    return slices[block].length;
  }

  public Slice slice(int block, int slice) {
    return slices[block][slice];
  }

  public int sliceCount() {
    return sliceCount;
  }

  /** Allocated bytes of all slices. */
  public long bytes() {
    return bytes;
  }

  /**
   * What became of a slice: {@link #DONE}, {@link #SHORT}, {@link #CHECKSUM}, {@link #CANCELLED},
   * or a positive errno.
   */
  public int result(int block, int slice) {
    return results[block][slice];
  }

  /** The sum that a slice had that failed its {@link #CHECKSUM}. */
  public long sum(int block, int slice) {
    return sums[block][slice];
  }

  /** Nobody wants a read any more: what of it has not begun ends {@link #CANCELLED}. */
  public void stop() {
    stopped = true;
  }

  /** Whether {@link #stop} was called. */
  public boolean stopped() {
    return stopped;
  }

  /** Called by the store. */
  public void ended(int block, int slice, int result, long sum) {
    results[block][slice] = result;
    sums[block][slice] = sum;
  }

  /** The first slice of a block that is not {@link #DONE}, -1 if all are. */
  public int firstFailure(int block) {
    for (int slice = 0; slice < results[block].length; slice++) {
      if (results[block][slice] != DONE) {
        return slice;
      }
    }
    return -1;
  }
}
