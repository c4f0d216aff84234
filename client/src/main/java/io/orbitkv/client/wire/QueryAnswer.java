package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The payload of a query's answer.
 *
 * <pre>
 *  0 leaseId u64 | 8 leaseMillis u32 | 12 startToken u32 | 16 boundaryToken u32 | 20 groupCount u16
 * 22 zero u16 | 24 boundaryCount u32 | 28 runCount u32
 * 32 per group: groupId u16 | zero u16 | fromToken u32 | toToken u32 | hitBlocks u32
 *    boundaries in runs of equal steps: first u32 | step u32 | count u32, padded to 8
 * </pre>
 *
 * @param leaseId the lease, 0 for none
 * @param leaseMillis how long the lease lives from now
 * @param startToken the request's
 * @param boundaryToken the chosen boundary; startToken if nothing can be restored
 * @param groups what must be restored of each group for that boundary, ascending by group
 * @param boundaries legal boundaries beyond startToken, ascending
 */
public record QueryAnswer(
    long leaseId,
    int leaseMillis,
    int startToken,
    int boundaryToken,
    List<GroupRange> groups,
    IntRun boundaries) {
  private static final int HEADER_BYTES = 32;
  private static final int GROUP_BYTES = 16;

  /**
   * One group's part.
   *
   * @param fromToken first token to restore
   * @param toToken the token behind the last to restore
   * @param hitBlocks how many of the asked keys were found sealed
   */
  public record GroupRange(int groupId, int fromToken, int toToken, int hitBlocks) {}

  /** Copies the list. */
  public QueryAnswer {
    groups = List.copyOf(groups);
  }

  /** Bytes of the payload. */
  public int encodedBytes() {
    return HEADER_BYTES
        + GROUP_BYTES * groups.size()
        + RequestName.pad8(StepRuns.RUN_BYTES * StepRuns.count(boundaries));
  }

  /**
   * Writes the payload.
   *
   * @return its bytes
   */
  public int encode(MemorySegment payload) {
    WireWriter out = new WireWriter(payload);
    out.u64(leaseId).u32(leaseMillis).u32(startToken).u32(boundaryToken);
    out.u16(groups.size()).u16(0).u32(boundaries.size());
    out.u32(StepRuns.count(boundaries));
    for (int i = 0; i < groups.size(); i++) {
      GroupRange group = groups.get(i);
      out.u16(group.groupId()).u16(0).u32(group.fromToken()).u32(group.toToken());
      out.u32(group.hitBlocks());
    }
    StepRuns.write(boundaries, out);
    out.pad8();
    return out.position();
  }

  /** Reads a private copy of a payload. */
  public static Decoded<QueryAnswer> decode(byte[] payload) {
    WireReader in = new WireReader(payload, payload.length);
    long leaseId = in.u64();
    long leaseMillis = in.u32();
    long startToken = in.u32();
    long boundaryToken = in.u32();
    int groupCount = in.u16();
    in.zeros(2);
    long boundaryCount = in.u32();
    long runCount = in.u32();
    if (in.bad() || in.remaining() < GROUP_BYTES * groupCount) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "answer header");
    }
    List<GroupRange> groups = new ArrayList<>(groupCount);
    for (int i = 0; i < groupCount; i++) {
      int groupId = in.u16();
      in.zeros(2);
      long from = in.u32();
      long to = in.u32();
      long hits = in.u32();
      if (from > to || to > PayloadLimits.MAX_TOKEN || hits > Integer.MAX_VALUE) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "answer range of group " + groupId);
      }
      groups.add(new GroupRange(groupId, (int) from, (int) to, (int) hits));
    }
    if (runCount * StepRuns.RUN_BYTES > in.remaining() || boundaryCount > Integer.MAX_VALUE) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, runCount + " runs of boundaries do not fit");
    }
    IntRun boundaries = StepRuns.read(in, (int) runCount, (int) boundaryCount);
    if (boundaries == null) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "boundaries that do not ascend in steps");
    }
    in.pad8();
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "answer length or padding");
    }
    if (leaseId < 0
        || startToken > boundaryToken
        || boundaryToken > PayloadLimits.MAX_TOKEN
        || leaseMillis > Integer.MAX_VALUE) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "answer values");
    }
    return Decoded.good(
        new QueryAnswer(
            leaseId, (int) leaseMillis, (int) startToken, (int) boundaryToken, groups, boundaries));
  }
}
