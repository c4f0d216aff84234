package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The payload of a refusal with {@link Flags#TEXT}.
 *
 * <pre>
 * 0 messageBytes u16 | 2 remedyBytes u16 | 4 zero u32 | 8 message | remedy, padded to 8 (UTF-8)
 * </pre>
 *
 * @param message what happened
 * @param remedy what to change
 */
public record RefusalText(String message, String remedy) {
  private static final int MAX_TEXT_BYTES = 2048;

  /**
   * Writes the payload; each text is cut after 2,048 bytes.
   *
   * @return its bytes
   */
  public int encode(MemorySegment payload) {
    byte[] messageBytes = cut(message);
    byte[] remedyBytes = cut(remedy);
    WireWriter out = new WireWriter(payload);
    out.u16(messageBytes.length).u16(remedyBytes.length).u32(0);
    out.bytes(messageBytes, 0, messageBytes.length);
    out.bytes(remedyBytes, 0, remedyBytes.length).pad8();
    return out.position();
  }

  /** Reads a private copy of a payload. */
  public static Decoded<RefusalText> decode(byte[] payload) {
    WireReader in = new WireReader(payload, payload.length);
    int messageBytes = in.u16();
    int remedyBytes = in.u16();
    in.zeros(4);
    int at = in.position();
    in.skip(messageBytes);
    in.skip(remedyBytes);
    in.pad8();
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "refusal text");
    }
    return Decoded.good(
        new RefusalText(
            new String(payload, at, messageBytes, StandardCharsets.UTF_8),
            new String(payload, at + messageBytes, remedyBytes, StandardCharsets.UTF_8)));
  }

  private static byte[] cut(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= MAX_TEXT_BYTES ? bytes : Arrays.copyOf(bytes, MAX_TEXT_BYTES);
  }
}
