package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The board: shared memory by which the Manager and an engine pass staging slots to and fro, in
 * little endian.
 *
 * <pre>
 *   0       header   u64 magic "OKVBRD01"   u32 version = 1   u32 slotCount   u32 loadSlots
 *                    u32 maxEntries   u32 maxSums   u32 reserved   u64 slotStride   u64 slotsOffset
 *                    u64 epoch   u64 sessionId
 *   4096    slot 0, slotStride bytes
 *           0        u64 turn: even = the Manager's, odd = the engine's
 *           128      u64 operationId   u64 requestId   u64 sessionId   u32 groupId   u32 kind
 *                    u32 firstLayer   u32 layerCount   u32 entryCount   u32 flags
 *           256      u32 status   u32 detail
 *           512      entries: u32 page   u32 reserved   u64 slotOffset
 *           69632    sums: u64 each, entry by entry, layer by layer
 *   4096 + slotStride   slot 1 ...
 * </pre>
 *
 * Everything of a slot but its turn is plain; the turn is written after it and read before it.
 */
public final class BoardLayout {
  /** The bytes {@code OKVBRD01}. */
  public static final long MAGIC = 0x31304452_42564B4FL;

  public static final int VERSION = 1;
  public static final int MAX_ENTRIES = 4096;
  public static final int MAX_SUMS = 65_536;
  public static final int SLOTS_OFFSET = 4096;

  public static final int TURN = 0;
  public static final int OPERATION_ID = 128;
  public static final int REQUEST_ID = 136;
  public static final int SESSION_ID = 144;
  public static final int GROUP_ID = 152;
  public static final int KIND = 156;
  public static final int FIRST_LAYER = 160;
  public static final int LAYER_COUNT = 164;
  public static final int ENTRY_COUNT = 168;
  public static final int FLAGS = 172;
  public static final int STATUS = 256;
  public static final int DETAIL = 260;
  public static final int ENTRIES = 512;
  public static final int ENTRY_BYTES = 16;
  public static final int SUMS = 69_632;

  /** Bytes of board for a slot. */
  public static final int SLOT_STRIDE = SUMS + 8 * MAX_SUMS;

  /** Slot to pages. */
  public static final int SCATTER = 1;

  /** Pages to slot. */
  public static final int GATHER = 2;

  /** The flag that asks for sums. */
  public static final int WANT_SUMS = 1;

  /** The work is done. */
  public static final int DONE = 0;

  /** The kernel could not be launched, or the work is not one. */
  public static final int REFUSED = 1;

  /** The driver reported an error. */
  public static final int CUDA_ERROR = 2;

  public static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  public static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle TURNS = LONG.varHandle();

  private BoardLayout() {}

  /** Bytes of a board. */
  public static long bytes(int slots) {
    return SLOTS_OFFSET + (long) slots * SLOT_STRIDE;
  }

  /** Where a slot's board begins. */
  public static long slot(int index) {
    return SLOTS_OFFSET + (long) index * SLOT_STRIDE;
  }

  /** Writes the header. */
  public static void writeHeader(
      MemorySegment board, int slotCount, int loadSlots, long epoch, long sessionId) {
    board.set(LONG, 0, MAGIC);
    board.set(INT, 8, VERSION);
    board.set(INT, 12, slotCount);
    board.set(INT, 16, loadSlots);
    board.set(INT, 20, MAX_ENTRIES);
    board.set(INT, 24, MAX_SUMS);
    board.set(INT, 28, 0);
    board.set(LONG, 32, SLOT_STRIDE);
    board.set(LONG, 40, SLOTS_OFFSET);
    board.set(LONG, 48, epoch);
    board.set(LONG, 56, sessionId);
  }

  /** Whether the header is of this version and for so many slots. */
  public static boolean isHeader(MemorySegment board, int slotCount) {
    return board.byteSize() >= bytes(slotCount)
        && board.get(LONG, 0) == MAGIC
        && board.get(INT, 8) == VERSION
        && board.get(INT, 12) == slotCount
        && board.get(LONG, 32) == SLOT_STRIDE
        && board.get(LONG, 40) == SLOTS_OFFSET;
  }

  /** A slot's turn, with everything that was written before it. */
  public static long turn(MemorySegment board, int slot) {
    return (long) TURNS.getAcquire(board, slot(slot) + TURN);
  }

  /** Passes a slot on, with everything that was written before. */
  public static void turn(MemorySegment board, int slot, long turn) {
    TURNS.setRelease(board, slot(slot) + TURN, turn);
  }
}
