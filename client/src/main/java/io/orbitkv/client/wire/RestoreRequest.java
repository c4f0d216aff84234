package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The payload of RESTORE: which leased pages go into which blocks of the engine's buffers. The
 * lease is the descriptor's handle.
 *
 * <pre>
 *  0 groupCount u16 | 2 requestBytes u8 | 3 zero, 5 bytes | 8 request, padded to 8
 *    per group: 0 groupId u16 | 2 zero u16 | 4 fromToken u32 | 8 blockCount u32 | 12 zero u32
 *              16 destination block index u32 each, padded to 8
 * </pre>
 *
 * @param request the engine's name of the request, 0 to 64 visible ASCII characters
 * @param groups ascending by group
 */
public record RestoreRequest(String request, List<GroupPages> groups) {
  private static final int HEADER_BYTES = 8;
  private static final int GROUP_HEADER_BYTES = 16;

  /**
   * Pages of one group.
   *
   * @param fromToken where the first page begins
   * @param destinationBlocks the block index in the registered layers, one per page
   */
  public record GroupPages(int groupId, int fromToken, IntRun destinationBlocks) {}

  /** Copies the list. */
  public RestoreRequest {
    groups = List.copyOf(groups);
  }

  /** Bytes of the payload. */
  public int encodedBytes() {
    int bytes = HEADER_BYTES + RequestName.paddedBytes(request);
    for (GroupPages group : groups) {
      bytes +=
          GROUP_HEADER_BYTES + RequestName.pad8(Integer.BYTES * group.destinationBlocks().size());
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
    out.u16(groups.size()).u8(name.length).u8(0).u32(0);
    out.bytes(name, 0, name.length).pad8();
    for (int i = 0; i < groups.size(); i++) {
      GroupPages group = groups.get(i);
      IntRun blocks = group.destinationBlocks();
      out.u16(group.groupId()).u16(0).u32(group.fromToken()).u32(blocks.size()).u32(0);
      out.ints(blocks).pad8();
    }
    return out.position();
  }

  /**
   * Reads a private copy of a payload. That the groups exist, the pages are leased and the block
   * indices lie in the layers and do not repeat is the Manager's to check.
   *
   * @param payload exactly the payload
   */
  public static Decoded<RestoreRequest> decode(byte[] payload, PayloadLimits limits) {
    return decode(payload, payload.length, limits);
  }

  /**
   * The same of a payload that begins an array.
   *
   * @param bytes how long it is
   */
  public static Decoded<RestoreRequest> decode(byte[] payload, int bytes, PayloadLimits limits) {
    WireReader in = new WireReader(payload, bytes);
    int groupCount = in.u16();
    int nameBytes = in.u8();
    in.zeros(5);
    if (nameBytes > RequestName.MAX_BYTES) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, nameBytes + " bytes");
    }
    String request = RequestName.read(in, payload, nameBytes);
    if (in.bad()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "RESTORE header");
    }
    if (!RequestName.isValid(request)) {
      return Decoded.bad(RefusalCode.BAD_REQUEST_NAME, "not visible ASCII");
    }
    if (groupCount == 0 || groupCount > limits.maxGroups()) {
      return Decoded.bad(RefusalCode.BAD_GROUP, groupCount + " groups");
    }
    List<GroupPages> groups = new ArrayList<>(groupCount);
    long total = 0;
    int previous = -1;
    for (int i = 0; i < groupCount; i++) {
      int groupId = in.u16();
      in.zeros(2);
      long fromToken = in.u32();
      long blockCount = in.u32();
      in.zeros(4);
      if (in.bad() || blockCount == 0) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "group " + i);
      }
      if (groupId <= previous) {
        return Decoded.bad(RefusalCode.BAD_GROUP, "group " + groupId + " is out of order");
      }
      previous = groupId;
      if (fromToken > PayloadLimits.MAX_TOKEN) {
        return Decoded.bad(RefusalCode.RANGE_NOT_LEASED, "fromToken " + fromToken);
      }
      total += blockCount;
      if (total > limits.maxKeysPerRequest()) {
        return Decoded.bad(RefusalCode.TOO_MANY_KEYS, total + " blocks");
      }
      if (blockCount * Integer.BYTES > in.remaining()) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, blockCount + " destinations do not fit");
      }
      int[] blocks = in.ints((int) blockCount);
      in.pad8();
      for (int block : blocks) {
        if (block < 0) {
          return Decoded.bad(
              RefusalCode.BLOCK_OUT_OF_RANGE, "destination block " + Integer.toUnsignedLong(block));
        }
      }
      groups.add(new GroupPages(groupId, (int) fromToken, IntRun.owning(blocks)));
    }
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "RESTORE length or padding");
    }
    return Decoded.good(new RestoreRequest(request, groups));
  }
}
