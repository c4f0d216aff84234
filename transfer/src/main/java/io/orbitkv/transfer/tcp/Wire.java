package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The peer transfer protocol, version 1. All numbers are little-endian; a UUID is its high and then
 * its low half.
 *
 * <pre>
 * source -> reader, on accept             reader -> source
 * Challenge, 40 bytes                     Hello, 104 bytes
 *   0 u32 magic "OKVT"                      0 u32 magic "OKVT"
 *   4 u16 version                           4 u16 version
 *   6 u16 0                                 6 u16 0
 *   8 32  nonce of the source               8 16  runtime of the reader
 *                                          24 16  runtime of the source that is meant
 * source -> reader                         40 32  nonce of the reader
 * Welcome, 56 bytes                        72 32  proof of the token
 *   0 u32 magic "OKVT"
 *   4 u16 version
 *   6 u16 refusal, 0: welcome
 *   8 u64 bytes    ) that may be asked for and not have come,
 *  16 u32 requests ) on this connection
 *  20 u32 0
 *  24 32  proof of the token
 *
 * then, as often as wanted:
 * reader -> source                        source -> reader, in the order of the requests
 * Read, 64 + 16 n bytes                   Answer, 24 bytes and the payload
 *   0 u32 bytes of this frame               0 u32 magic "OKVR"
 *   4 u16 1                                 4 u16 refusal, 0: served
 *   6 u16 n, number of ranges               6 u16 0
 *   8 u64 request                           8 u64 request
 *  16 16  grant                            16 u64 payload bytes: all of the ranges', or 0
 *  32 16  secret of the grant              24     the ranges' bytes, in their order
 *  48 16  runtime that gave the grant
 *  64 n times, n from 1 to 1024: u64 offset, u64 length
 * </pre>
 *
 * The reader's proof is HMAC-SHA256 by the token over "orbitkv reader 1", both nonces and both
 * runtimes; the source's is over "orbitkv source 1" and the same. A refused connection is closed
 * after the Welcome that says why. A reader gives a read up by closing the connection.
 */
final class Wire {
  static final int MAGIC = 0x54564b4f;
  static final int ANSWER_MAGIC = 0x52564b4f;
  static final int VERSION = 1;
  static final int CHALLENGE_BYTES = 40;
  static final int HELLO_BYTES = 104;
  static final int WELCOME_BYTES = 56;
  static final int READ_HEADER_BYTES = 64;
  static final int RANGE_BYTES = 16;
  static final int ANSWER_BYTES = 24;
  static final int KIND_READ = 1;
  static final int MAX_RANGES = 1024;
  static final int MAX_READ_FRAME_BYTES = READ_HEADER_BYTES + MAX_RANGES * RANGE_BYTES;

  private Wire() {}

  record Challenge(int magic, int version, Bits256 nonce) {
    static Challenge read(ByteBuf in) {
      int magic = in.readIntLE();
      int version = in.readUnsignedShortLE();
      in.skipBytes(2);
      return new Challenge(magic, version, Bits256.read(in));
    }

    void write(ByteBuf out) {
      out.writeIntLE(magic).writeShortLE(version).writeShortLE(0);
      nonce.write(out);
    }
  }

  record Hello(int magic, int version, UUID reader, UUID source, Bits256 nonce, Bits256 proof) {
    static Hello read(ByteBuf in) {
      int magic = in.readIntLE();
      int version = in.readUnsignedShortLE();
      in.skipBytes(2);
      return new Hello(magic, version, uuid(in), uuid(in), Bits256.read(in), Bits256.read(in));
    }

    void write(ByteBuf out) {
      out.writeIntLE(magic).writeShortLE(version).writeShortLE(0);
      writeUuid(out, reader);
      writeUuid(out, source);
      nonce.write(out);
      proof.write(out);
    }
  }

  record Welcome(
      int magic, int version, int refusal, long maxBytes, int maxRequests, Bits256 proof) {
    static Welcome read(ByteBuf in) {
      int magic = in.readIntLE();
      int version = in.readUnsignedShortLE();
      int refusal = in.readUnsignedShortLE();
      long maxBytes = in.readLongLE();
      int maxRequests = in.readIntLE();
      in.skipBytes(Integer.BYTES);
      return new Welcome(magic, version, refusal, maxBytes, maxRequests, Bits256.read(in));
    }

    void write(ByteBuf out) {
      out.writeIntLE(magic).writeShortLE(version).writeShortLE(refusal);
      out.writeLongLE(maxBytes).writeIntLE(maxRequests).writeIntLE(0);
      proof.write(out);
    }
  }

  /** A request, without the lengths that lead it. */
  record Read(long request, UUID grant, Secret secret, UUID runtime, List<PoolRange> ranges) {

    /**
     * Reads the frame whose length has been looked at.
     *
     * @throws IllegalArgumentException if it is none
     */
    static Read read(ByteBuf in, int frameBytes) {
      in.skipBytes(Integer.BYTES);
      int kind = in.readUnsignedShortLE();
      int count = in.readUnsignedShortLE();
      if (kind != KIND_READ || count < 1 || count > MAX_RANGES || frameBytes != bytesOf(count)) {
        throw new IllegalArgumentException("no read: kind " + kind + ", " + count + " ranges");
      }
      long request = in.readLongLE();
      UUID grant = uuid(in);
      Secret secret = new Secret(in.readLongLE(), in.readLongLE());
      UUID runtime = uuid(in);
      List<PoolRange> ranges = new ArrayList<>(count);
      long total = 0;
      for (int i = 0; i < count; i++) {
        PoolRange range = new PoolRange(in.readLongLE(), in.readLongLE());
        total = Math.addExact(total, range.length());
        ranges.add(range);
      }
      return new Read(request, grant, secret, runtime, ranges);
    }

    void write(ByteBuf out) {
      out.writeIntLE(bytesOf(ranges.size())).writeShortLE(KIND_READ).writeShortLE(ranges.size());
      out.writeLongLE(request);
      writeUuid(out, grant);
      out.writeLongLE(secret.high()).writeLongLE(secret.low());
      writeUuid(out, runtime);
      for (PoolRange each : ranges) {
        out.writeLongLE(each.offset()).writeLongLE(each.length());
      }
    }

    static int bytesOf(int ranges) {
      return READ_HEADER_BYTES + ranges * RANGE_BYTES;
    }

    long payloadBytes() {
      long total = 0;
      for (PoolRange each : ranges) {
        total += each.length();
      }
      return total;
    }
  }

  record Answer(int magic, int refusal, long request, long payloadBytes) {
    static Answer read(ByteBuf in) {
      int magic = in.readIntLE();
      int refusal = in.readUnsignedShortLE();
      in.skipBytes(2);
      return new Answer(magic, refusal, in.readLongLE(), in.readLongLE());
    }

    void write(ByteBuf out) {
      out.writeIntLE(magic).writeShortLE(refusal).writeShortLE(0);
      out.writeLongLE(request).writeLongLE(payloadBytes);
    }
  }

  private static UUID uuid(ByteBuf in) {
    return new UUID(in.readLongLE(), in.readLongLE());
  }

  private static void writeUuid(ByteBuf out, UUID uuid) {
    out.writeLongLE(uuid.getMostSignificantBits()).writeLongLE(uuid.getLeastSignificantBits());
  }
}
