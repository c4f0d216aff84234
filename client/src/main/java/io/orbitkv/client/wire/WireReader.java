package io.orbitkv.client.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads little-endian fields out of a private copy of untrusted bytes. A read past the end gives 0
 * and is remembered, so that a decoder reads on and asks once at the end; only loops must check
 * {@link #remaining} before they believe a count.
 */
final class WireReader {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] source;
  private final int length;
  private int position;
  private boolean overrun;
  private boolean dirtyPadding;

  WireReader(byte[] source, int length) {
    this.source = source;
    this.length = length;
  }

  /** Where the next field begins. */
  int position() {
    return position;
  }

  int remaining() {
    return length - position;
  }

  int u8() {
    int at = take(1);
    return at < 0 ? 0 : source[at] & 0xFF;
  }

  int u16() {
    int at = take(2);
    return at < 0 ? 0 : (short) SHORT.get(source, at) & 0xFFFF;
  }

  /** Unsigned. */
  long u32() {
    int at = take(4);
    return at < 0 ? 0 : (int) INT.get(source, at) & 0xFFFFFFFFL;
  }

  /** As a signed long: values above 2^63-1 are negative. */
  long u64() {
    int at = take(8);
    return at < 0 ? 0 : (long) LONG.get(source, at);
  }

  /** Skips bytes that must be zero. */
  void zeros(int count) {
    int at = take(count);
    for (int i = 0; at >= 0 && i < count; i++) {
      dirtyPadding |= source[at + i] != 0;
    }
  }

  /** Skips bytes that the caller takes from the source by position. */
  void skip(int count) {
    var _ = take(count);
  }

  /** Skips zero bytes up to the next multiple of 8. */
  void pad8() {
    zeros(-position & 7);
  }

  /** Reads {@code count} 32-bit numbers; the caller has checked {@link #remaining}. */
  int[] ints(int count) {
    int[] out = new int[count];
    ByteBuffer.wrap(source, position, 4 * count)
        .order(ByteOrder.LITTLE_ENDIAN)
        .asIntBuffer()
        .get(out);
    position += 4 * count;
    return out;
  }

  /** Whether everything was there, nothing was left over and all padding was zero. */
  boolean finishedWell() {
    return !overrun && !dirtyPadding && position == length;
  }

  /** Whether a field ended past the end or padding was not zero. */
  boolean bad() {
    return overrun || dirtyPadding;
  }

  private int take(int count) {
    if (overrun || count > length - position) {
      overrun = true;
      return -1;
    }
    int at = position;
    position += count;
    return at;
  }
}
