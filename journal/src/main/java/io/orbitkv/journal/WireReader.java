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
 * Reads protobuf's wire format from a slice of an array. A payload that does not parse, or that has
 * a field this version does not know, is refused with {@link UnreadableRecord}: a fold that skipped
 * what it does not understand would give a wrong state.
 */
final class WireReader {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;
  private int at;
  private int limit;
  private int tag;

  WireReader(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.at = from;
    this.limit = to;
  }

  /** The number of the next field, 0 at the end of the message. */
  int nextField() {
    if (at == limit) {
      return 0;
    }
    tag = (int) varint();
    int field = tag >>> 3;
    if (field == 0) {
      throw new UnreadableRecord("field number 0 at byte " + at);
    }
    return field;
  }

  UnreadableRecord unknownField(String message) {
    return new UnreadableRecord(
        message
            + " has field "
            + (tag >>> 3)
            + ", which this version does not know: use a newer orbitkv");
  }

  long uint() {
    expect(WireWriter.VARINT);
    return varint();
  }

  int uint32() {
    long value = uint();
    if (value >>> 32 != 0) {
      throw new UnreadableRecord("field " + (tag >>> 3) + " does not fit into 32 bits");
    }
    return (int) value;
  }

  long sint() {
    return unzigzag(uint());
  }

  boolean bool() {
    return uint() != 0;
  }

  long fixed() {
    expect(WireWriter.FIXED64);
    if (limit - at < 8) {
      throw truncated();
    }
    long value = (long) LONGS.get(bytes, at);
    at += 8;
    return value;
  }

  String string() {
    int length = length();
    String value = new String(bytes, at, length, StandardCharsets.UTF_8);
    at += length;
    return value;
  }

  byte[] bytes() {
    int length = length();
    byte[] value = Arrays.copyOfRange(bytes, at, at + length);
    at += length;
    return value;
  }

  /**
   * Enters a nested message or column; {@link #leave} with the returned limit goes back to the
   * outer one.
   */
  int enter() {
    int length = length();
    int outer = limit;
    limit = at + length;
    return outer;
  }

  void leave(int outer) {
    limit = outer;
  }

  LongRanges runs() {
    int outer = enter();
    LongRanges ranges;
    long end = 0;
    long first = unzigzag(varint());
    int count = runLength();
    if (at == limit) {
      ranges = LongRanges.of(first, count);
    } else {
      LongRanges.Builder builder = new LongRanges.Builder().addRun(first, count);
      end = first + count;
      while (at < limit) {
        first = end + unzigzag(varint());
        count = runLength();
        builder.addRun(first, count);
        end = first + count;
      }
      ranges = builder.build();
    }
    leave(outer);
    return ranges;
  }

  Longs deltas() {
    int outer = enter();
    int count = 0;
    for (int i = at; i < limit; i++) {
      count += bytes[i] >= 0 ? 1 : 0;
    }
    long[] values = new long[count];
    long before = 0;
    for (int i = 0; i < count; i++) {
      before += unzigzag(varint());
      values[i] = before;
    }
    if (at != limit) {
      throw truncated();
    }
    leave(outer);
    return Longs.of(values);
  }

  Longs fixeds() {
    int length = length();
    if (length % 8 != 0) {
      throw new UnreadableRecord("a column of 64-bit numbers has " + length + " bytes");
    }
    long[] values = new long[length / 8];
    for (int i = 0; i < values.length; i++) {
      values[i] = (long) LONGS.get(bytes, at + 8 * i);
    }
    at += length;
    return Longs.of(values);
  }

  static Keys keys(int keyBytes, byte[] packed) {
    if (keyBytes == 0 && packed.length == 0) {
      return Keys.EMPTY;
    }
    try {
      return Keys.ofPacked(keyBytes == 0 ? 1 : keyBytes, packed);
    } catch (IllegalArgumentException e) {
      throw new UnreadableRecord(String.valueOf(e.getMessage()));
    }
  }

  private int runLength() {
    long count = unzigzag(varint());
    if (count <= 0 || count > Integer.MAX_VALUE) {
      throw new UnreadableRecord("a run of " + count + " ids");
    }
    return (int) count;
  }

  private int length() {
    expect(WireWriter.BYTES);
    long length = varint();
    if (length < 0 || length > limit - at) {
      throw truncated();
    }
    return (int) length;
  }

  private void expect(int wireType) {
    if ((tag & 7) != wireType) {
      throw new UnreadableRecord("field " + (tag >>> 3) + " has wire type " + (tag & 7));
    }
  }

  private long varint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == limit) {
        throw truncated();
      }
      byte next = bytes[at++];
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new UnreadableRecord("a number longer than 64 bits");
  }

  private static UnreadableRecord truncated() {
    return new UnreadableRecord("a field reaches beyond the end of its message");
  }

  private static long unzigzag(long value) {
    return value >>> 1 ^ -(value & 1);
  }
}
