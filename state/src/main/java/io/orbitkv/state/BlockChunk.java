package io.orbitkv.state;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The columns of 1,024 slots whose blocks have keys of one length and one number of slices.
 *
 * <p>Chunks are never copied: the table grows by adding one. A slot's slices lie side by side, so
 * that a block of one shard costs no indirection. Per slot with 32-byte keys and one slice: 52
 * bytes of block and 29 of slice, and what {@link SlotIndex} takes twice.
 */
final class BlockChunk {
  static final int BITS = 10;
  static final int SLOTS = 1 << BITS;
  static final int MASK = SLOTS - 1;

  static final byte FREE = 0;
  static final byte RESERVED = 1;
  static final byte SEALED = 2;
  static final byte EVICTED = 3;

  /** Sealed, and on SSD only. */
  static final byte DEMOTED = 4;

  /** Sealed, on SSD, and on the way back into the pool; pinned by that. */
  static final byte LOADING = 5;

  /** Sealed by an earlier run; its slices are in place, but nobody has looked at their bytes. */
  static final byte UNVERIFIED = 6;

  /** One more than the highest state. */
  static final int STATES = 7;

  /** Whether a block in that state has its key in the index. */
  static boolean findable(byte state) {
    return state != FREE && state != EVICTED;
  }

  static final byte SLICE_EMPTY = 0;
  static final byte SLICE_RESERVED = 1;
  static final byte SLICE_PUBLISHED = 2;

  /** An extent is set aside and being read from SSD. */
  static final byte SLICE_LOADING = 3;

  private static final int COLUMNS = 12;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final int OBJECT_BYTES = 72;

  final FreeSlots shape;
  final int keyBytes;
  final int slices;

  final long[] blockId = new long[SLOTS];
  final long[] reservedAt = new long[SLOTS];

  /** Of a free slot: the next free slot, -1 at the end. */
  final int[] pins = new int[SLOTS];

  final int[] row = new int[SLOTS];
  final byte[] state = new byte[SLOTS];
  final byte[] published = new byte[SLOTS];
  final byte[] keys;

  final long[] offset;
  final long[] generation;
  final long[] checksum;
  final int[] extentBytes;
  final byte[] sliceState;

  /** Made for the first block of the chunk that goes to SSD, and kept. */
  @Nullable SsdColumns ssd;

  /**
   * Position of the last lease of each block, made for the first one of the chunk while the order
   * of use is kept.
   */
  long @Nullable [] leasedAt;

  BlockChunk(FreeSlots shape) {
    this.shape = shape;
    this.keyBytes = shape.keyBytes;
    this.slices = shape.slices;
    keys = new byte[SLOTS * keyBytes];
    offset = new long[SLOTS * slices];
    generation = new long[SLOTS * slices];
    checksum = new long[SLOTS * slices];
    extentBytes = new int[SLOTS * slices];
    sliceState = new byte[SLOTS * slices];
  }

  /**
   * Reads a value of each cache line that holds something of {@code count} neighbouring slots and
   * that their eviction will need. What it returns has no meaning.
   */
  long touch(int first, int count) {
    int last = first + count - 1;
    long sum = (long) state[first] + state[last] + row[first] + row[last];
    sum += (long) pins[first] + pins[last];
    for (int at = first; at <= last; at += 8) {
      sum += blockId[at];
    }
    int slice = first * slices;
    int lastSlice = last * slices + slices - 1;
    sum += (long) sliceState[slice] + sliceState[lastSlice];
    sum += (long) extentBytes[slice] + extentBytes[lastSlice];
    int lastByte = last * keyBytes;
    for (int at = first * keyBytes; at <= lastByte; at += 64) {
      sum += keys[at];
    }
    return sum + keys[lastByte] + blockId[last];
  }

  // ---- neighbouring slots of one slice, column by column
  // -----------------------------------------

  /**
   * Whether {@code count} slots hold sealed blocks of one group that nobody has pinned and that lie
   * in DRAM only, so that {@link #clear} may empty all of them.
   */
  boolean isPlain(int first, int count) {
    if (slices != 1 || ssd != null) {
      return false;
    }
    int group = row[first];
    int other = 0;
    for (int at = first; at < first + count; at++) {
      other |= (state[at] ^ SEALED) | (sliceState[at] ^ SLICE_PUBLISHED);
      other |= pins[at] | (row[at] ^ group);
    }
    return other == 0;
  }

  /** Makes the slots free, but for the links of the free list. */
  void clear(int first, int count) {
    int end = first + count;
    Arrays.fill(blockId, first, end, 0);
    Arrays.fill(state, first, end, FREE);
    Arrays.fill(published, first, end, (byte) 0);
    Arrays.fill(sliceState, first, end, SLICE_EMPTY);
  }

  /** Bytes of the extents of the only slice of each slot. */
  long extentBytes(int first, int count) {
    long sum = 0;
    for (int at = first; at < first + count; at++) {
      sum += extentBytes[at];
    }
    return sum;
  }

  /** Whether {@code count} slots hold blocks whose only slice is set aside and not published. */
  boolean isReserved(int first, int count) {
    if (slices != 1) {
      return false;
    }
    int other = 0;
    for (int at = first; at < first + count; at++) {
      other |= (state[at] ^ RESERVED) | (sliceState[at] ^ SLICE_RESERVED);
      other |= (pins[at] - 1) & Integer.MIN_VALUE;
    }
    return other == 0;
  }

  /** Blocks for which {@link #isReserved} holds are sealed, and lose a pin. */
  void seal(int first, int count, Longs checksums, int ordinal) {
    int end = first + count;
    checksums.copyTo(ordinal, checksum, first, count);
    Arrays.fill(sliceState, first, end, SLICE_PUBLISHED);
    Arrays.fill(published, first, end, (byte) 1);
    Arrays.fill(state, first, end, SEALED);
    unpin(first, count);
  }

  /** Whether all slots hold pinned blocks that outlive their last pin. */
  boolean isPinnedAndStays(int first, int count) {
    int other = 0;
    for (int at = first; at < first + count; at++) {
      other |= ((pins[at] - 1) & Integer.MIN_VALUE) | (state[at] == EVICTED ? 1 : 0);
    }
    return other == 0;
  }

  void unpin(int first, int count) {
    for (int at = first; at < first + count; at++) {
      pins[at]--;
    }
  }

  long heapBytes() {
    long perSlot = 8 + 8 + 4 + 4 + 1 + 1 + keyBytes + slices * (8L + 8 + 8 + 4 + 1);
    long ssdBytes = ssd == null ? 0 : ssd.heapBytes();
    long useBytes = leasedAt == null ? 0 : 8L * SLOTS + ARRAY_HEADER_BYTES;
    return perSlot * SLOTS + COLUMNS * ARRAY_HEADER_BYTES + OBJECT_BYTES + ssdBytes + useBytes;
  }
}
