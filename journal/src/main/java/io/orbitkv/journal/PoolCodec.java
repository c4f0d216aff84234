package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.PoolFact;
import io.orbitkv.state.LongRanges;

/**
 * Writes and reads the payloads of facts about a pool that outlives the daemon as {@code
 * journal.proto} declares.
 */
final class PoolCodec {
  private PoolCodec() {}

  static void encode(WireWriter out, PoolFact fact) {
    switch (fact) {
      case HostEvent.PoolOpened e -> {
        out.fixed(1, e.poolIdHigh());
        out.fixed(2, e.poolIdLow());
      }
      case HostEvent.BlocksKept e -> out.runs(1, e.blocks());
      case HostEvent.BlocksAdopted e -> {
        out.runs(1, e.blocks());
        out.uint(2, e.bytes());
        out.uint(3, e.durationMicros());
      }
      case HostEvent.BlocksNotAdopted e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.reason()));
        out.string(3, e.detail());
      }
    }
  }

  /**
   * @param type a {@link FactType} of the pool
   * @throws UnreadableRecord when something in the payload is not known, or does not parse
   */
  static HostEvent decode(int type, WireReader in) {
    return switch (type) {
      case FactType.POOL_OPENED -> poolOpened(in);
      case FactType.BLOCKS_KEPT -> blocksKept(in);
      case FactType.BLOCKS_ADOPTED -> blocksAdopted(in);
      case FactType.BLOCKS_NOT_ADOPTED -> blocksNotAdopted(in);
      default -> throw new UnreadableRecord("record type " + type + " is none of the pool");
    };
  }

  private static HostEvent poolOpened(WireReader in) {
    long poolIdHigh = 0;
    long poolIdLow = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> poolIdHigh = in.fixed();
        case 2 -> poolIdLow = in.fixed();
        default -> throw in.unknownField("PoolOpened");
      }
    }
    return new HostEvent.PoolOpened(poolIdHigh, poolIdLow);
  }

  private static HostEvent blocksKept(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      if (number != 1) {
        throw in.unknownField("BlocksKept");
      }
      blocks = in.runs();
    }
    return new HostEvent.BlocksKept(blocks);
  }

  private static HostEvent blocksAdopted(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    long bytes = 0;
    long durationMicros = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> bytes = in.uint();
        case 3 -> durationMicros = in.uint();
        default -> throw in.unknownField("BlocksAdopted");
      }
    }
    return new HostEvent.BlocksAdopted(blocks, bytes, durationMicros);
  }

  private static HostEvent blocksNotAdopted(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    int reason = 0;
    String detail = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> reason = in.uint32();
        case 3 -> detail = in.string();
        default -> throw in.unknownField("BlocksNotAdopted");
      }
    }
    return new HostEvent.BlocksNotAdopted(blocks, EnumCodes.adoptionFailure(reason), detail);
  }
}
