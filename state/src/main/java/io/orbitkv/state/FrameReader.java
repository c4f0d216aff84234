package io.orbitkv.state;

import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** Reads what {@link FrameWriter} wrote; every byte it returns was verified. */
final class FrameReader {
  private static final int MAX_TEXT_BYTES = 1 << 20;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final DataInput in;
  private final byte[] frame = new byte[FrameWriter.FRAME_BYTES];
  private final CRC32C crc = new CRC32C();
  private int at;
  private int limit;
  private long frames;
  private boolean ended;

  FrameReader(DataInput in) {
    this.in = in;
  }

  int octet() throws IOException {
    if (at == limit) {
      fill();
    }
    return frame[at++] & 0xFF;
  }

  long varint() throws IOException {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      int octet = octet();
      value |= (long) (octet & 0x7F) << shift;
      if (octet < 0x80) {
        return value;
      }
    }
    throw new DamagedSnapshot("a number in frame " + frames + " has no end");
  }

  int varint32() throws IOException {
    long value = varint();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new DamagedSnapshot("a number in frame " + frames + " is out of range: " + value);
    }
    return (int) value;
  }

  long fixed() throws IOException {
    if (limit - at >= Long.BYTES) {
      at += Long.BYTES;
      return (long) LONGS.get(frame, at - Long.BYTES);
    }
    long value = 0;
    for (int shift = 0; shift < 64; shift += 8) {
      value |= (long) octet() << shift;
    }
    return value;
  }

  void bytes(byte[] target, int length) throws IOException {
    int done = 0;
    while (done < length) {
      if (at == limit) {
        fill();
      }
      int take = Math.min(length - done, limit - at);
      System.arraycopy(frame, at, target, done, take);
      at += take;
      done += take;
    }
  }

  String text() throws IOException {
    int length = varint32();
    if (length > MAX_TEXT_BYTES) {
      throw new DamagedSnapshot("a text in frame " + frames + " has " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    bytes(bytes, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  LongRanges ranges() throws IOException {
    int runs = varint32();
    LongRanges.Builder ranges = new LongRanges.Builder();
    for (int run = 0; run < runs; run++) {
      long first = varint();
      ranges.addRun(first, varint32());
    }
    return ranges.build();
  }

  /** Everything must have been read. */
  void end() throws IOException {
    if (at != limit || ended || readLength() != 0) {
      throw new DamagedSnapshot("there is more after the last value, in frame " + frames);
    }
    ended = true;
  }

  private void fill() throws IOException {
    int length = ended ? 0 : readLength();
    if (length == 0) {
      ended = true;
      throw new DamagedSnapshot("it ends early, after " + frames + " frames");
    }
    if (length < 0 || length > FrameWriter.FRAME_BYTES) {
      throw new DamagedSnapshot("frame " + frames + " claims " + length + " bytes");
    }
    int expected;
    try {
      in.readFully(frame, 0, length);
      expected = in.readInt();
    } catch (EOFException e) {
      throw new DamagedSnapshot("it is cut in frame " + frames, e);
    }
    crc.reset();
    crc.update(frame, 0, length);
    if ((int) crc.getValue() != expected) {
      throw new DamagedSnapshot("frame " + frames + " fails its CRC32C");
    }
    frames++;
    at = 0;
    limit = length;
  }

  private int readLength() throws IOException {
    try {
      return in.readInt();
    } catch (EOFException e) {
      throw new DamagedSnapshot("it is cut after frame " + frames, e);
    }
  }
}
