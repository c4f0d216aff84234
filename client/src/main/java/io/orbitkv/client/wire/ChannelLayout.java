package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Where things lie in the channel's shared memory.
 *
 * <pre>
 *      0  header page    0 magic u64 | 8 layoutVersion u32 | 12 entries u32 | 16 total bytes u64
 *                        24 epoch u64 | 32 sessionId u64 | 40 submissionOffset u64
 *                        48 completionOffset u64 | 56 arenaOffset u64 | 64 slotCount u32
 *                        68 slotBytes u32
 *                        1024 submissionTail | 1152 submissionHead | 1280 completionTail
 *                        1408 completionHead | 1536 sessionState u32
 *   4096  submission ring, {@link #DESCRIPTOR_BYTES} an entry
 *  20480  completion ring
 *  65536  arena: slots of  0 generation u64 | 8 layersDone u32 | 12 layersTotal u32 | 64 payload
 * </pre>
 *
 * <p>All little-endian. Cursors have 128 bytes each, so that neither side's writes take the other's
 * cache line or its neighbour.
 */
public final class ChannelLayout {
  /** The bytes {@code ORKVCHN1}. */
  public static final long MAGIC = 0x314E4843564B524FL;

  /** The only layout there is. */
  public static final int LAYOUT_VERSION = 1;

  /** Bytes of a submission and of a completion. */
  public static final int DESCRIPTOR_BYTES = 64;

  /** Bytes before the payload of a slot. */
  public static final int SLOT_HEADER_BYTES = 64;

  /** The slot number that means none. */
  public static final int NO_SLOT = 0xFFFF;

  static final long SUBMISSION_TAIL = 1024;
  static final long SUBMISSION_HEAD = 1152;
  static final long COMPLETION_TAIL = 1280;
  static final long COMPLETION_HEAD = 1408;
  static final long SESSION_STATE = 1536;

  static final long SLOT_GENERATION = 0;
  static final long SLOT_LAYERS_DONE = 8;
  static final long SLOT_LAYERS_TOTAL = 12;

  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle LONG_HANDLE = LONG.varHandle();
  private static final VarHandle INT_HANDLE = INT.varHandle();

  private ChannelLayout() {}

  static long getLongAcquire(MemorySegment segment, long offset) {
    return (long) LONG_HANDLE.getAcquire(segment, offset);
  }

  static void setLongRelease(MemorySegment segment, long offset, long value) {
    LONG_HANDLE.setRelease(segment, offset, value);
  }

  static int getIntAcquire(MemorySegment segment, long offset) {
    return (int) INT_HANDLE.getAcquire(segment, offset);
  }

  static void setIntRelease(MemorySegment segment, long offset, int value) {
    INT_HANDLE.setRelease(segment, offset, value);
  }
}
