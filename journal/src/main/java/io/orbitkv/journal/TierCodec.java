package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.TierFact;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;

/** Writes and reads the payloads of facts about the SSD tier as {@code journal.proto} declares. */
final class TierCodec {
  private TierCodec() {}

  static void encode(WireWriter out, TierFact fact) {
    switch (fact) {
      case HostEvent.SsdTierOpened e -> {
        out.fixed(1, e.tierIdHigh());
        out.fixed(2, e.tierIdLow());
        out.deltas(3, e.fileBytes());
      }
      case HostEvent.LayersBound e -> {
        out.uint32(1, e.namespaceId());
        out.uint32(2, e.groupId());
        out.uint32(3, e.slice());
        out.deltas(4, e.layers());
        out.deltas(5, e.layerBytes());
      }
      case HostEvent.SsdWritten e -> {
        out.runs(1, e.blocks());
        out.deltas(2, e.files());
        out.deltas(3, e.offsets());
        out.deltas(4, e.generations());
      }
      case HostEvent.SsdEvicted e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.cause()));
        out.uint(3, e.forSessionId());
        out.string(4, e.forRequest());
      }
      case HostEvent.BlocksDemoted e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.cause()));
        out.uint(3, e.forSessionId());
        out.string(4, e.forRequest());
      }
      case HostEvent.BlocksLoading e -> {
        out.runs(1, e.blocks());
        out.deltas(2, e.extentOffsets());
        out.deltas(3, e.extentGenerations());
        out.uint(4, e.ticketId());
        out.uint(5, e.forSessionId());
        out.string(6, e.forRequest());
      }
      case HostEvent.BlocksLoaded e -> {
        out.runs(1, e.blocks());
        out.uint(2, e.bytes());
        out.uint(3, e.durationMicros());
      }
      case HostEvent.LoadFailed e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.reason()));
        out.string(3, e.detail());
      }
      case HostEvent.TierDegraded e -> {
        out.uint(1, EnumCodes.code(e.trouble()));
        out.string(2, e.detail());
      }
      case HostEvent.TierRecovered e -> {
        out.uint(1, EnumCodes.code(e.trouble()));
      }
      case HostEvent.SsdSkipped e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.reason()));
      }
      case HostEvent.PoolFact e -> PoolCodec.encode(out, e);
    }
  }

  /**
   * @param type a {@link FactType} of the tier
   * @throws UnreadableRecord when something in the payload is not known, or does not parse
   */
  static HostEvent decode(int type, WireReader in) {
    return switch (type) {
      case FactType.SSD_TIER_OPENED -> ssdTierOpened(in);
      case FactType.LAYERS_BOUND -> layersBound(in);
      case FactType.SSD_WRITTEN -> ssdWritten(in);
      case FactType.SSD_EVICTED -> ssdEvicted(in);
      case FactType.BLOCKS_DEMOTED -> blocksDemoted(in);
      case FactType.BLOCKS_LOADING -> blocksLoading(in);
      case FactType.BLOCKS_LOADED -> blocksLoaded(in);
      case FactType.LOAD_FAILED -> loadFailed(in);
      case FactType.TIER_DEGRADED -> tierDegraded(in);
      case FactType.TIER_RECOVERED -> tierRecovered(in);
      case FactType.SSD_SKIPPED -> ssdSkipped(in);
      default -> throw new UnreadableRecord("record type " + type + " is none of the tier");
    };
  }

  private static HostEvent.SsdTierOpened ssdTierOpened(WireReader in) {
    long tierIdHigh = 0;
    long tierIdLow = 0;
    Longs fileBytes = Longs.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> tierIdHigh = in.fixed();
        case 2 -> tierIdLow = in.fixed();
        case 3 -> fileBytes = in.deltas();
        default -> throw in.unknownField("SsdTierOpened");
      }
    }
    return new HostEvent.SsdTierOpened(tierIdHigh, tierIdLow, fileBytes);
  }

  private static HostEvent.LayersBound layersBound(WireReader in) {
    int namespaceId = 0;
    int groupId = 0;
    int slice = 0;
    Longs layers = Longs.EMPTY;
    Longs layerBytes = Longs.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> namespaceId = in.uint32();
        case 2 -> groupId = in.uint32();
        case 3 -> slice = in.uint32();
        case 4 -> layers = in.deltas();
        case 5 -> layerBytes = in.deltas();
        default -> throw in.unknownField("LayersBound");
      }
    }
    return new HostEvent.LayersBound(namespaceId, groupId, slice, layers, layerBytes);
  }

  private static HostEvent.SsdWritten ssdWritten(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    Longs files = Longs.EMPTY;
    Longs offsets = Longs.EMPTY;
    Longs generations = Longs.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> files = in.deltas();
        case 3 -> offsets = in.deltas();
        case 4 -> generations = in.deltas();
        default -> throw in.unknownField("SsdWritten");
      }
    }
    return new HostEvent.SsdWritten(blocks, files, offsets, generations);
  }

  private static HostEvent.SsdEvicted ssdEvicted(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    int cause = 0;
    long forSessionId = 0;
    String forRequest = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> cause = in.uint32();
        case 3 -> forSessionId = in.uint();
        case 4 -> forRequest = in.string();
        default -> throw in.unknownField("SsdEvicted");
      }
    }
    return new HostEvent.SsdEvicted(
        blocks, EnumCodes.ssdEvictionCause(cause), forSessionId, forRequest);
  }

  private static HostEvent.BlocksDemoted blocksDemoted(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    int cause = 0;
    long forSessionId = 0;
    String forRequest = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> cause = in.uint32();
        case 3 -> forSessionId = in.uint();
        case 4 -> forRequest = in.string();
        default -> throw in.unknownField("BlocksDemoted");
      }
    }
    return new HostEvent.BlocksDemoted(
        blocks, EnumCodes.evictionCause(cause), forSessionId, forRequest);
  }

  private static HostEvent.BlocksLoading blocksLoading(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    Longs extentOffsets = Longs.EMPTY;
    Longs extentGenerations = Longs.EMPTY;
    long ticketId = 0;
    long forSessionId = 0;
    String forRequest = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> extentOffsets = in.deltas();
        case 3 -> extentGenerations = in.deltas();
        case 4 -> ticketId = in.uint();
        case 5 -> forSessionId = in.uint();
        case 6 -> forRequest = in.string();
        default -> throw in.unknownField("BlocksLoading");
      }
    }
    return new HostEvent.BlocksLoading(
        blocks, extentOffsets, extentGenerations, ticketId, forSessionId, forRequest);
  }

  private static HostEvent.BlocksLoaded blocksLoaded(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    long bytes = 0;
    long durationMicros = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> bytes = in.uint();
        case 3 -> durationMicros = in.uint();
        default -> throw in.unknownField("BlocksLoaded");
      }
    }
    return new HostEvent.BlocksLoaded(blocks, bytes, durationMicros);
  }

  private static HostEvent.LoadFailed loadFailed(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    int reason = 0;
    String detail = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> reason = in.uint32();
        case 3 -> detail = in.string();
        default -> throw in.unknownField("LoadFailed");
      }
    }
    return new HostEvent.LoadFailed(blocks, EnumCodes.loadFailure(reason), detail);
  }

  private static HostEvent.TierDegraded tierDegraded(WireReader in) {
    int trouble = 0;
    String detail = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> trouble = in.uint32();
        case 2 -> detail = in.string();
        default -> throw in.unknownField("TierDegraded");
      }
    }
    return new HostEvent.TierDegraded(EnumCodes.tierTrouble(trouble), detail);
  }

  private static HostEvent.SsdSkipped ssdSkipped(WireReader in) {
    LongRanges blocks = LongRanges.EMPTY;
    int reason = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blocks = in.runs();
        case 2 -> reason = in.uint32();
        default -> throw in.unknownField("SsdSkipped");
      }
    }
    return new HostEvent.SsdSkipped(blocks, EnumCodes.ssdSkip(reason));
  }

  private static HostEvent.TierRecovered tierRecovered(WireReader in) {
    int trouble = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      if (number != 1) {
        throw in.unknownField("TierRecovered");
      }
      trouble = in.uint32();
    }
    return new HostEvent.TierRecovered(EnumCodes.tierTrouble(trouble));
  }
}
