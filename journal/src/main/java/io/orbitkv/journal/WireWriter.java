package io.orbitkv.journal;

import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf's wire format into one reused array. A generated message would cost an object for
 * each message and column on the loop thread; this costs none, and a test holds it to what the
 * generated classes read.
 *
 * <p>Fields that have their default value are left out, as proto3 does.
 */
final class WireWriter {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int BYTES = 2;

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] bytes = new byte[4096];
  private int size;

  byte[] array() {
    return bytes;
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
  }

  void skip(int count) {
    ensure(count);
    size += count;
  }

  void u8(int at, int value) {
    bytes[at] = (byte) value;
  }

  void u16(int at, int value) {
    SHORTS.set(bytes, at, (short) value);
  }

  void u32(int at, int value) {
    INTS.set(bytes, at, value);
  }

  void u64(int at, long value) {
    LONGS.set(bytes, at, value);
  }

  void uint(int field, long value) {
    if (value != 0) {
      ensure(20);
      tag(field, VARINT);
      varint(value);
    }
  }

  void uint32(int field, int value) {
    uint(field, Integer.toUnsignedLong(value));
  }

  void sint(int field, long value) {
    uint(field, zigzag(value));
  }

  void bool(int field, boolean value) {
    uint(field, value ? 1 : 0);
  }

  void fixed(int field, long value) {
    if (value != 0) {
      ensure(13);
      tag(field, FIXED64);
      LONGS.set(bytes, size, value);
      size += 8;
    }
  }

  void string(int field, String value) {
    int length = value.length();
    if (length == 0) {
      return;
    }
    ensure(10 + 3 * length);
    tag(field, BYTES);
    int mark = size;
    varint(length);
    int at = size;
    for (int i = 0; i < length; i++) {
      char c = value.charAt(i);
      if (c >= 0x80) {
        size = mark;
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        varint(utf8.length);
        raw(utf8);
        return;
      }
      bytes[at++] = (byte) c;
    }
    size = at;
  }

  void bytes(int field, byte[] value) {
    if (value.length > 0) {
      ensure(10 + value.length);
      tag(field, BYTES);
      varint(value.length);
      raw(value);
    }
  }

  /** The length of one key, when it is not 1, and the keys end to end. */
  void keys(int lengthField, int keysField, Keys keys) {
    if (keys.keyBytes() != 1) {
      uint32(lengthField, keys.keyBytes());
    }
    bytes(keysField, keys.packed());
  }

  void runs(int field, LongRanges ranges) {
    int runs = ranges.runs();
    if (runs == 0) {
      return;
    }
    ensure(10 + 15 * runs);
    int mark = begin(field);
    long end = 0;
    for (int run = 0; run < runs; run++) {
      long first = ranges.first(run);
      int count = ranges.count(run);
      varint(zigzag(first - end));
      varint(zigzag(count));
      end = first + count;
    }
    end(mark);
  }

  void deltas(int field, Longs values) {
    int count = values.size();
    if (count == 0) {
      return;
    }
    ensure(10 + 10 * count);
    int mark = begin(field);
    long before = 0;
    for (int i = 0; i < count; i++) {
      long value = values.get(i);
      varint(zigzag(value - before));
      before = value;
    }
    end(mark);
  }

  void fixeds(int field, Longs values) {
    int count = values.size();
    if (count == 0) {
      return;
    }
    ensure(10 + 8 * count);
    tag(field, BYTES);
    varint(8L * count);
    for (int i = 0; i < count; i++) {
      LONGS.set(bytes, size, values.get(i));
      size += 8;
    }
  }

  /** Starts a message or column whose length is not known yet; {@link #end} fills it in. */
  int begin(int field) {
    ensure(16);
    tag(field, BYTES);
    return size++;
  }

  void end(int mark) {
    int length = size - mark - 1;
    if (length < 0x80) {
      bytes[mark] = (byte) length;
      return;
    }
    int extra = varintBytes(length) - 1;
    ensure(extra);
    System.arraycopy(bytes, mark + 1, bytes, mark + 1 + extra, length);
    size = mark;
    varint(length);
    size += length;
  }

  private void raw(byte[] value) {
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
  }

  private void tag(int field, int wireType) {
    varint(field << 3 | wireType);
  }

  private void varint(long value) {
    byte[] out = bytes;
    int at = size;
    long left = value;
    while ((left & ~0x7FL) != 0) {
      out[at++] = (byte) (left | 0x80);
      left >>>= 7;
    }
    out[at++] = (byte) left;
    size = at;
  }

  private void ensure(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }

  private static long zigzag(long value) {
    return value << 1 ^ value >> 63;
  }

  private static int varintBytes(int value) {
    return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
  }
}
