package io.orbitkv.state;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Slots and what lies in them: columns in {@link BlockChunk}s, the groups that rows refer to, and
 * the free slots of each shape.
 *
 * <p>There is no object per block. A slot is a number that a block keeps from its reservation until
 * its memory returned; then another block may get it, so slots are never written down.
 */
abstract class BlockColumns {
  private BlockChunk[] chunks = new BlockChunk[16];
  private int chunkCount;
  private GroupRow[] rows = new GroupRow[16];
  private final LongMap<FreeSlots> shapes = new LongMap<>();
  private @Nullable FreeSlots lastShape;

  // ---- groups ----------------------------------------------------------------------------------

  /** The number for the next {@link GroupRow}: the lowest that no bound group has. */
  final int freeRow() {
    for (int row = 0; row < rows.length; row++) {
      if (rows[row] == null) {
        return row;
      }
    }
    rows = Arrays.copyOf(rows, rows.length * 2);
    return rows.length / 2;
  }

  final void addGroup(GroupRow group) {
    rows[group.row] = group;
  }

  @SuppressWarnings("NullAway") // a free row is null, and no slot refers to one
  final void removeGroup(GroupRow group) {
    rows[group.row] = null;
  }

  // ---- columns ---------------------------------------------------------------------------------

  final byte state(int slot) {
    return chunk(slot).state[slot & BlockChunk.MASK];
  }

  /** 0 when the slot is free. */
  final long blockId(int slot) {
    return chunk(slot).blockId[slot & BlockChunk.MASK];
  }

  final int pins(int slot) {
    return chunk(slot).pins[slot & BlockChunk.MASK];
  }

  final long reservedAt(int slot) {
    return chunk(slot).reservedAt[slot & BlockChunk.MASK];
  }

  final GroupRow group(int slot) {
    return rows[chunk(slot).row[slot & BlockChunk.MASK]];
  }

  final int keyBytes(int slot) {
    return chunk(slot).keyBytes;
  }

  final void copyKey(int slot, byte[] target, int offset) {
    BlockChunk chunk = chunk(slot);
    int from = (slot & BlockChunk.MASK) * chunk.keyBytes;
    System.arraycopy(chunk.keys, from, target, offset, chunk.keyBytes);
  }

  final int slices(int slot) {
    return chunk(slot).slices;
  }

  final byte sliceState(int slot, int slice) {
    return chunk(slot).sliceState[at(slot, slice)];
  }

  final long offset(int slot, int slice) {
    return chunk(slot).offset[at(slot, slice)];
  }

  final long generation(int slot, int slice) {
    return chunk(slot).generation[at(slot, slice)];
  }

  final long checksum(int slot, int slice) {
    return chunk(slot).checksum[at(slot, slice)];
  }

  final int extentBytes(int slot, int slice) {
    return chunk(slot).extentBytes[at(slot, slice)];
  }

  /** Every slot is below it. */
  final int slotLimit() {
    return chunkCount << BlockChunk.BITS;
  }

  /**
   * How many of the {@code most} blocks from {@code blockId} on, which lies in {@code slot}, lie
   * side by side in one chunk: 1 to {@link BlockTable#BATCH}. What is done to all of them needs one
   * lookup.
   */
  final int neighbours(int slot, long blockId, int most) {
    long[] ids = chunk(slot).blockId;
    int at = slot & BlockChunk.MASK;
    int limit = Math.min(Math.min(most, BlockTable.BATCH), BlockChunk.SLOTS - at);
    int count = 1;
    while (count < limit && ids[at + count] == blockId + count) {
      count++;
    }
    return count;
  }

  // ---- order of use ----------------------------------------------------------------------------

  /** Whether blocks outlive the daemon, so that the order of their use is worth keeping. */
  boolean keepsUse;

  /** Blocks in neighbouring slots were leased. */
  final void leased(int slot, int count, long position) {
    BlockChunk chunk = chunk(slot);
    long[] leasedAt = chunk.leasedAt;
    if (leasedAt == null) {
      leasedAt = new long[BlockChunk.SLOTS];
      chunk.leasedAt = leasedAt;
    }
    int first = slot & BlockChunk.MASK;
    Arrays.fill(leasedAt, first, first + count, position);
  }

  /** Position of the last lease of the block, 0 if none is known. */
  final long leasedAt(int slot) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    long position = chunk.leasedAt == null ? 0 : chunk.leasedAt[at];
    return position > chunk.reservedAt[at] ? position : 0;
  }

  // ---- slots -----------------------------------------------------------------------------------

  /** The slot that {@link #takeSlot} takes next. */
  final int peekSlot(int keyBytes, int slices) {
    FreeSlots shape = lastShape;
    if (shape == null || shape.keyBytes != keyBytes || shape.slices != slices) {
      shape = shape(keyBytes, slices);
    }
    if (shape.head < 0) {
      addChunk(shape);
    }
    return shape.head;
  }

  final int takeSlot(int keyBytes, int slices) {
    int slot = peekSlot(keyBytes, slices);
    takeSlots(chunk(slot), slot, 1);
    return slot;
  }

  /**
   * How many of the next slots to take, of which {@code slot} is the first, lie side by side in one
   * chunk: 1 to {@code most}.
   */
  final int freeRun(int slot, int most) {
    int[] next = chunk(slot).pins;
    int first = slot & BlockChunk.MASK;
    int limit = Math.min(most, BlockChunk.SLOTS - first);
    int run = 1;
    while (run < limit && next[first + run - 1] == slot + run) {
      run++;
    }
    return run;
  }

  /** Takes a run that {@link #freeRun} told of. */
  final void takeSlots(BlockChunk chunk, int slot, int count) {
    FreeSlots shape = chunk.shape;
    shape.head = chunk.pins[(slot & BlockChunk.MASK) + count - 1];
    if (shape.head < 0) {
      shape.tail = -1;
    }
  }

  private FreeSlots shape(int keyBytes, int slices) {
    FreeSlots shape = shapes.get(FreeSlots.id(keyBytes, slices));
    if (shape == null) {
      shape = new FreeSlots(keyBytes, slices);
      shapes.put(FreeSlots.id(keyBytes, slices), shape);
    }
    lastShape = shape;
    return shape;
  }

  final void giveSlot(BlockChunk chunk, int slot) {
    giveSlots(chunk, slot, 1);
  }

  /** Gives neighbouring slots of one chunk back. */
  final void giveSlots(BlockChunk chunk, int slot, int count) {
    FreeSlots shape = chunk.shape;
    int first = slot & BlockChunk.MASK;
    for (int i = 1; i < count; i++) {
      chunk.pins[first + i - 1] = slot + i;
    }
    chunk.pins[first + count - 1] = -1;
    if (shape.tail < 0) {
      shape.head = slot;
    } else {
      chunk(shape.tail).pins[shape.tail & BlockChunk.MASK] = slot;
    }
    shape.tail = slot + count - 1;
  }

  private void addChunk(FreeSlots shape) {
    if (chunkCount == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunks.length * 2);
    }
    BlockChunk chunk = new BlockChunk(shape);
    int first = chunkCount << BlockChunk.BITS;
    chunks[chunkCount++] = chunk;
    giveSlots(chunk, first, BlockChunk.SLOTS);
  }

  final BlockChunk chunk(int slot) {
    return chunks[slot >>> BlockChunk.BITS];
  }

  final int at(int slot, int slice) {
    return (slot & BlockChunk.MASK) * chunk(slot).slices + slice;
  }

  final GroupRow row(BlockChunk chunk, int at) {
    return rows[chunk.row[at]];
  }

  /** Heap taken by the columns, counted from the lengths of the arrays. */
  final long columnBytes() {
    long bytes = 4L * (chunks.length + rows.length);
    for (int i = 0; i < chunkCount; i++) {
      bytes += chunks[i].heapBytes();
    }
    return bytes;
  }
}
