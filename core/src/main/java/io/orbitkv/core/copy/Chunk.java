package io.orbitkv.core.copy;

import io.orbitkv.core.pool.ExtentAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * As many blocks of one group as fit in a slot, whole or some consecutive layers of them, and where
 * their bytes lie in the slot. Extents that are neighbours in the pool are neighbours in the slot
 * too, at the same distance, so that the copy engine takes them in one piece.
 *
 * @param from first block, index in the task's arrays
 * @param to past the last
 * @param slotOffsets where each block begins in the slot, multiples of 64
 * @param runs the copies
 * @param payloadBytes of the engine
 */
@SuppressWarnings("ArrayRecordComponent") // columns of a job, never compared as values
record Chunk(
    GroupLayout layout,
    int firstLayer,
    int layerCount,
    int from,
    int to,
    long[] slotOffsets,
    List<Run> runs,
    long payloadBytes) {
  private static final int ALIGNMENT_BYTES = 64;

  /**
   * Pieces of equal size at equal distances in the pool and in the slot.
   *
   * @param poolPitch bytes from piece to piece in the pool
   * @param slotPitch the same in the slot
   */
  record Run(
      long poolOffset,
      long poolPitch,
      long slotOffset,
      long slotPitch,
      long pieceBytes,
      int pieces) {}

  /**
   * Takes blocks from {@code from} on while they fit.
   *
   * @param extentOffsets where each block lies in the pool
   * @param limitBytes the slot's size, or less; one block fits in any case
   * @param granuleBytes what offsets and sizes of the pool's extents are multiples of
   */
  static Chunk whole(
      GroupLayout layout, long[] extentOffsets, int from, long limitBytes, int granuleBytes) {
    int layers = layout.layerCount();
    long spanBytes = layout.trailerOffset();
    long allocated = ExtentAllocator.allocatedBytes(layout.extentBytes(), granuleBytes);
    int most = Math.min(SlotBoard.MAX_ENTRIES, SlotBoard.MAX_SUMS / layers);
    int bound = (int) Math.min(extentOffsets.length, from + (long) Math.max(1, most));
    long[] slotOffsets = new long[bound - from];
    List<Run> runs = new ArrayList<>();
    long runPool = extentOffsets[from];
    long runSlot = 0;
    long end = 0;
    int to = from;
    while (to < bound) {
      boolean neighbour = to > from && extentOffsets[to] == extentOffsets[to - 1] + allocated;
      long at = neighbour ? slotOffsets[to - 1 - from] + allocated : end;
      if (to > from && at + spanBytes > limitBytes) {
        break;
      }
      if (to > from && !neighbour) {
        runs.add(piece(runPool, runSlot, end - runSlot));
        runPool = extentOffsets[to];
        runSlot = at;
      }
      slotOffsets[to - from] = at;
      end = at + spanBytes;
      to++;
    }
    runs.add(piece(runPool, runSlot, end - runSlot));
    return new Chunk(
        layout,
        0,
        layers,
        from,
        to,
        Arrays.copyOf(slotOffsets, to - from),
        runs,
        layout.payloadBytes() * (to - from));
  }

  private static Run piece(long poolOffset, long slotOffset, long bytes) {
    return new Run(poolOffset, bytes, slotOffset, bytes, bytes, 1);
  }

  /**
   * The same for some layers of the blocks, which lie packed in the slot.
   *
   * @param layerCount at least 1
   */
  static Chunk layers(
      GroupLayout layout,
      int firstLayer,
      int layerCount,
      long[] extentOffsets,
      int from,
      long limitBytes,
      int granuleBytes) {
    long begin = layout.layerOffset(firstLayer);
    int last = firstLayer + layerCount - 1;
    long spanBytes = layout.layerOffset(last) + layout.layer(last).blockBytes() - begin;
    long pitch = (spanBytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    long allocated = ExtentAllocator.allocatedBytes(layout.extentBytes(), granuleBytes);
    long most =
        Math.min(
            Math.min(SlotBoard.MAX_ENTRIES, SlotBoard.MAX_SUMS / layerCount),
            (limitBytes - spanBytes) / pitch + 1);
    int to = (int) Math.min(extentOffsets.length, from + Math.max(1, most));
    long[] slotOffsets = new long[to - from];
    List<Run> runs = new ArrayList<>();
    int runStart = from;
    for (int i = from; i < to; i++) {
      slotOffsets[i - from] = (i - from) * pitch;
      if (i + 1 == to || extentOffsets[i + 1] != extentOffsets[i] + allocated) {
        runs.add(
            new Run(
                extentOffsets[runStart] + begin,
                allocated,
                slotOffsets[runStart - from],
                pitch,
                spanBytes,
                i + 1 - runStart));
        runStart = i + 1;
      }
    }
    long payload = 0;
    for (int l = firstLayer; l <= last; l++) {
      payload += layout.layer(l).blockBytes();
    }
    return new Chunk(
        layout, firstLayer, layerCount, from, to, slotOffsets, runs, payload * (to - from));
  }

  int entryCount() {
    return to - from;
  }

  SlotBoard.Work work(long operationId, boolean scatter, boolean sums) {
    return new SlotBoard.Work(
        operationId, layout.groupId(), scatter, firstLayer, layerCount, entryCount(), sums);
  }
}
