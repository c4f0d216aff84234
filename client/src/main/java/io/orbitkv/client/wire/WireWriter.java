package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Writes little-endian fields one after the other. Its bounds are the segment's: writing past them
 * throws {@link IndexOutOfBoundsException}, which a caller who sized the payload never sees.
 */
final class WireWriter {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final MemorySegment target;
  private long position;

  WireWriter(MemorySegment target) {
    this.target = target;
  }

  int position() {
    return Math.toIntExact(position);
  }

  WireWriter u8(int value) {
    target.set(ValueLayout.JAVA_BYTE, position, (byte) value);
    position += 1;
    return this;
  }

  WireWriter u16(int value) {
    target.set(SHORT, position, (short) value);
    position += 2;
    return this;
  }

  WireWriter u32(int value) {
    target.set(INT, position, value);
    position += 4;
    return this;
  }

  WireWriter u64(long value) {
    target.set(LONG, position, value);
    position += 8;
    return this;
  }

  WireWriter bytes(byte[] source, int offset, int length) {
    MemorySegment.copy(source, offset, target, ValueLayout.JAVA_BYTE, position, length);
    position += length;
    return this;
  }

  WireWriter ints(IntRun source) {
    int[] array = source.shared();
    int count = source.size();
    if (array != null) {
      MemorySegment.copy(array, 0, target, INT, position, count);
    } else {
      for (int i = 0; i < count; i++) {
        target.set(INT, position + 4L * i, source.get(i));
      }
    }
    position += 4L * count;
    return this;
  }

  /** Zero bytes up to the next multiple of 8. */
  WireWriter pad8() {
    while ((position & 7) != 0) {
      u8(0);
    }
    return this;
  }
}
