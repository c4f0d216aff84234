package io.orbitkv.state;

import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Writes values into frames, so that a reader verifies bytes before it looks at them.
 *
 * <pre>
 * frame   [u32 length 1..65536][length bytes][u32 CRC32C of the bytes]   big-endian
 * end     [u32 0]
 * varint  7 bits a byte, lowest first, high bit set on all but the last byte
 * fixed   8 bytes, little-endian
 * text    varint length in bytes, UTF-8
 * </pre>
 */
final class FrameWriter {
  static final int FRAME_BYTES = 65_536;

  private final DataOutput out;
  private final byte[] frame = new byte[FRAME_BYTES];
  private final CRC32C crc = new CRC32C();
  private int used;

  FrameWriter(DataOutput out) {
    this.out = out;
  }

  void octet(int value) throws IOException {
    room(1);
    frame[used++] = (byte) value;
  }

  void varint(long value) throws IOException {
    room(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      frame[used++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    frame[used++] = (byte) rest;
  }

  void fixed(long value) throws IOException {
    room(8);
    for (int shift = 0; shift < 64; shift += 8) {
      frame[used++] = (byte) (value >>> shift);
    }
  }

  void bytes(byte[] source, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      room(1);
      int take = Math.min(left, FRAME_BYTES - used);
      System.arraycopy(source, from, frame, used, take);
      used += take;
      from += take;
      left -= take;
    }
  }

  void text(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    varint(bytes.length);
    bytes(bytes, 0, bytes.length);
  }

  void ranges(LongRanges ranges) throws IOException {
    varint(ranges.runs());
    for (int run = 0; run < ranges.runs(); run++) {
      varint(ranges.first(run));
      varint(ranges.count(run));
    }
  }

  void end() throws IOException {
    flush();
    out.writeInt(0);
  }

  private void room(int bytes) throws IOException {
    if (FRAME_BYTES - used < bytes) {
      flush();
    }
  }

  private void flush() throws IOException {
    if (used > 0) {
      crc.reset();
      crc.update(frame, 0, used);
      out.writeInt(used);
      out.write(frame, 0, used);
      out.writeInt((int) crc.getValue());
      used = 0;
    }
  }
}
