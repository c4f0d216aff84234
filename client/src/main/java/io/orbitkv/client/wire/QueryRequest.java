package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The payload of QUERY: how far beyond {@code startToken} can the state be restored?
 *
 * <pre>
 *  0 startToken u32 | 4 limitToken u32 | 8 groupCount u16 | 10 requestBytes u8 | 11 zero u8
 * 12 zero u32 | 16 request, padded to 8
 *    per group: 0 groupId u16 | 2 keyBytes u16 | 4 keyCount u32 | 8 keys, padded to 8
 * </pre>
 *
 * @param startToken what the engine has already, in tokens
 * @param limitToken no boundary beyond this, 0 for no limit
 * @param request the engine's name of the request, 0 to 64 visible ASCII characters
 * @param groups the page keys per group, ascending by group
 */
public record QueryRequest(int startToken, int limitToken, String request, List<GroupKeys> groups) {
  private static final int HEADER_BYTES = 16;
  private static final int GROUP_HEADER_BYTES = 8;

  /**
   * The keys of one group's pages from startToken on.
   *
   * @param groupId the registered group
   * @param keys one per page, in order
   */
  public record GroupKeys(int groupId, KeyRun keys) {}

  /** Copies the list. */
  public QueryRequest {
    groups = List.copyOf(groups);
  }

  /** Bytes of the payload. */
  public int encodedBytes() {
    int bytes = HEADER_BYTES + RequestName.paddedBytes(request);
    for (GroupKeys group : groups) {
      bytes += GROUP_HEADER_BYTES + RequestName.pad8(group.keys().totalBytes());
    }
    return bytes;
  }

  /**
   * Writes the payload.
   *
   * @return its bytes
   */
  public int encode(MemorySegment payload) {
    byte[] name = RequestName.encode(request);
    WireWriter out = new WireWriter(payload);
    out.u32(startToken).u32(limitToken).u16(groups.size()).u8(name.length).u8(0).u32(0);
    out.bytes(name, 0, name.length).pad8();
    for (int i = 0; i < groups.size(); i++) {
      GroupKeys group = groups.get(i);
      KeyRun keys = group.keys();
      out.u16(group.groupId()).u16(keys.keyBytes()).u32(keys.count());
      out.bytes(keys.packed(), keys.offset(), keys.totalBytes()).pad8();
    }
    return out.position();
  }

  /**
   * Reads a private copy of a payload.
   *
   * @param payload exactly the payload; the keys go on sharing it
   */
  public static Decoded<QueryRequest> decode(byte[] payload, PayloadLimits limits) {
    return decode(payload, payload.length, limits);
  }

  /**
   * The same of a payload that begins an array.
   *
   * @param bytes how long it is
   */
  public static Decoded<QueryRequest> decode(byte[] payload, int bytes, PayloadLimits limits) {
    WireReader in = new WireReader(payload, bytes);
    long startToken = in.u32();
    long limitToken = in.u32();
    int groupCount = in.u16();
    int nameBytes = in.u8();
    in.zeros(5);
    if (nameBytes > RequestName.MAX_BYTES) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, nameBytes + " bytes");
    }
    String request = RequestName.read(in, payload, nameBytes);
    if (in.bad()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "QUERY header");
    }
    if (!RequestName.isValid(request)) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, "not visible ASCII");
    }
    if (startToken > PayloadLimits.MAX_TOKEN) {
      return Decoded.bad(RefusalCode.MISALIGNED, "startToken " + startToken);
    }
    if (groupCount == 0 || groupCount > limits.maxGroups()) {
      return Decoded.bad(RefusalCode.BAD_GROUP, groupCount + " groups");
    }
    List<GroupKeys> groups = new ArrayList<>(groupCount);
    long total = 0;
    int previous = -1;
    for (int i = 0; i < groupCount; i++) {
      int groupId = in.u16();
      int keyBytes = in.u16();
      long keyCount = in.u32();
      if (in.bad()) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "group " + i + " is cut off");
      }
      if (groupId <= previous) {
        return Decoded.bad(RefusalCode.BAD_GROUP, "group " + groupId + " is out of order");
      }
      previous = groupId;
      if (keyBytes < 1 || keyBytes > KeyRun.MAX_KEY_BYTES) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "keyBytes " + keyBytes);
      }
      total += keyCount;
      if (total > limits.maxKeysPerRequest()) {
        return Decoded.bad(RefusalCode.TOO_MANY_KEYS, total + " keys");
      }
      long keysBytes = keyCount * keyBytes;
      if (keysBytes > in.remaining()) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, keyCount + " keys do not fit");
      }
      groups.add(
          new GroupKeys(groupId, new KeyRun(payload, in.position(), keyBytes, (int) keyCount)));
      in.skip((int) keysBytes);
      in.pad8();
    }
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "QUERY length or padding");
    }
    // A limit beyond every legal token limits nothing.
    int limit = (int) Math.min(limitToken, PayloadLimits.MAX_TOKEN);
    return Decoded.good(new QueryRequest((int) startToken, limit, request, groups));
  }
}
