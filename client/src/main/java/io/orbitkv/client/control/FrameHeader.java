package io.orbitkv.client.control;

import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The 24 bytes before each control message, little-endian.
 *
 * <pre>
 * 0 magic "OKV1" | 4 version u16 | 6 type u16 | 8 payloadBytes u32 | 12 fdCount u32
 * 16 correlationId u64
 * </pre>
 *
 * @param type the {@link FrameType}'s number, which may be unknown
 * @param payloadBytes bytes of JSON that follow, 2 to {@value #MAX_PAYLOAD_BYTES}
 * @param fdCount descriptors that came with the first byte, 0 to {@value #MAX_FDS}
 * @param correlationId pairs a reply with its request; 0 only in CLOSING, and in REFUSED when the
 *     request's could not be read
 */
public record FrameHeader(int type, int payloadBytes, int fdCount, long correlationId) {
  /** Bytes of a header. */
  public static final int BYTES = 24;

  /** The frame version. */
  public static final int VERSION = 1;

  /** The most bytes of JSON. */
  public static final int MAX_PAYLOAD_BYTES = 1 << 20;

  /** The most descriptors with one frame. */
  public static final int MAX_FDS = 64;

  /** The bytes {@code OKV1}. */
  public static final int MAGIC = 0x31564B4F;

  /** Writes the 24 bytes at the buffer's position. */
  public void encode(ByteBuffer out) {
    out.order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(MAGIC).putShort((short) VERSION).putShort((short) type);
    out.putInt(payloadBytes).putInt(fdCount).putLong(correlationId);
  }

  /**
   * Reads 24 untrusted bytes. With a refusal of BAD_FRAME about the field {@code magic} the peer
   * does not speak this protocol, and nothing should be answered.
   */
  public static Decoded<FrameHeader> decode(ByteBuffer in) {
    in.order(ByteOrder.LITTLE_ENDIAN);
    int magic = in.getInt();
    int version = in.getShort() & 0xFFFF;
    int type = in.getShort() & 0xFFFF;
    int payloadBytes = in.getInt();
    int fdCount = in.getInt();
    long correlationId = in.getLong();
    if (magic != MAGIC) {
      return Decoded.bad(RefusalCode.BAD_FRAME, "magic", "not a frame of this protocol");
    }
    if (version != VERSION) {
      return Decoded.bad(
          RefusalCode.UNSUPPORTED_VERSION, "frame version " + version + ", only " + VERSION);
    }
    if (payloadBytes < 2 || payloadBytes > MAX_PAYLOAD_BYTES) {
      return Decoded.bad(
          RefusalCode.BAD_FRAME, "payloadBytes " + Integer.toUnsignedLong(payloadBytes));
    }
    if (fdCount < 0 || fdCount > MAX_FDS) {
      return Decoded.bad(RefusalCode.BAD_FRAME, "fdCount " + Integer.toUnsignedLong(fdCount));
    }
    if (correlationId < 0 || (correlationId == 0 && type < FrameType.REFUSED.code())) {
      return Decoded.bad(RefusalCode.BAD_FRAME, "correlationId");
    }
    return Decoded.good(new FrameHeader(type, payloadBytes, fdCount, correlationId));
  }
}
