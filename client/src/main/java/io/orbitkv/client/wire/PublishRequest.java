package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * The payload of PUBLISH: blocks of one group and where their bytes are in the engine's buffers.
 *
 * <pre>
 *  0 groupId u16 | 2 keyBytes u16 | 4 blockCount u32 | 8 requestBytes u8 | 9 zero, 7 bytes
 * 16 request, padded to 8 | keys, padded to 8 | source block index u32 each, padded to 8
 * </pre>
 *
 * @param groupId the registered group
 * @param request the engine's name of the request, 0 to 64 visible ASCII characters
 * @param keys one per block
 * @param sourceBlocks the block index in the registered layers, one per key
 */
public record PublishRequest(int groupId, String request, KeyRun keys, IntRun sourceBlocks) {
  private static final int HEADER_BYTES = 16;

  /** Refuses lists of different lengths. */
  public PublishRequest {
    if (keys.count() != sourceBlocks.size()) {
      throw new IllegalArgumentException(
          keys.count() + " keys but " + sourceBlocks.size() + " source blocks");
    }
  }

  /** Bytes of the payload. */
  public int encodedBytes() {
    return HEADER_BYTES
        + RequestName.paddedBytes(request)
        + RequestName.pad8(keys.totalBytes())
        + RequestName.pad8(Integer.BYTES * sourceBlocks.size());
  }

  /**
   * Writes the payload.
   *
   * @return its bytes
   */
  public int encode(MemorySegment payload) {
    byte[] name = RequestName.encode(request);
    WireWriter out = new WireWriter(payload);
    out.u16(groupId).u16(keys.keyBytes()).u32(keys.count()).u8(name.length);
    out.u8(0).u16(0).u32(0);
    out.bytes(name, 0, name.length).pad8();
    out.bytes(keys.packed(), keys.offset(), keys.totalBytes()).pad8();
    out.ints(sourceBlocks).pad8();
    return out.position();
  }

  /**
   * Reads a private copy of a payload. That the group exists and the block indices lie in its
   * layers is the Manager's to check.
   *
   * @param payload exactly the payload; the keys go on sharing it
   */
  public static Decoded<PublishRequest> decode(byte[] payload, PayloadLimits limits) {
    return decode(payload, payload.length, limits);
  }

  /**
   * The same of a payload that begins an array.
   *
   * @param bytes how long it is
   */
  public static Decoded<PublishRequest> decode(byte[] payload, int bytes, PayloadLimits limits) {
    WireReader in = new WireReader(payload, bytes);
    int groupId = in.u16();
    int keyBytes = in.u16();
    long blockCount = in.u32();
    int nameBytes = in.u8();
    in.zeros(7);
    if (nameBytes > RequestName.MAX_BYTES) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, nameBytes + " bytes");
    }
    String request = RequestName.read(in, payload, nameBytes);
    if (in.bad()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "PUBLISH header");
    }
    if (!RequestName.isValid(request)) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, "not visible ASCII");
    }
    if (keyBytes < 1 || keyBytes > KeyRun.MAX_KEY_BYTES || blockCount == 0) {
      return Decoded.bad(
          RefusalCode.BAD_PAYLOAD, "keyBytes " + keyBytes + ", blockCount " + blockCount);
    }
    if (blockCount > limits.maxKeysPerRequest()) {
      return Decoded.bad(RefusalCode.TOO_MANY_KEYS, blockCount + " blocks");
    }
    int count = (int) blockCount;
    if ((long) count * keyBytes > in.remaining()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, count + " keys do not fit");
    }
    KeyRun keys = new KeyRun(payload, in.position(), keyBytes, count);
    in.skip(keys.totalBytes());
    in.pad8();
    if ((long) count * Integer.BYTES > in.remaining()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, count + " source blocks do not fit");
    }
    int[] source = in.ints(count);
    in.pad8();
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "PUBLISH length or padding");
    }
    for (int block : source) {
      if (block < 0) {
        return Decoded.bad(
            RefusalCode.BLOCK_OUT_OF_RANGE, "source block " + Integer.toUnsignedLong(block));
      }
    }
    return Decoded.good(new PublishRequest(groupId, request, keys, IntRun.owning(source)));
  }
}
