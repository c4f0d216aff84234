package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.PeerFact;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.PeerId;
import java.util.ArrayList;
import java.util.List;

/** Writes and reads the payloads of facts about other hosts as {@code journal.proto} declares. */
final class PeerCodec {
  private static final PeerId NOBODY = new PeerId("", 0, 0);

  private PeerCodec() {}

  static void encode(WireWriter out, long atMicros, PeerFact fact) {
    switch (fact) {
      case HostEvent.GrantOpened e -> {
        out.uint(1, e.grantId());
        out.fixed(2, e.uuidHigh());
        out.fixed(3, e.uuidLow());
        peer(out, 4, e.peer());
        out.runs(5, e.blocks());
        out.uint(6, e.bytes());
        out.sint(7, e.expiresAtMicros() - atMicros);
      }
      case HostEvent.GrantClosed e -> {
        out.uint(1, e.grantId());
        out.uint(2, EnumCodes.code(e.reason()));
        out.uint(3, e.reads());
      }
      case HostEvent.RemoteReadBegun e -> {
        out.uint(1, e.readId());
        peer(out, 2, e.owner());
        out.uint32(3, e.namespaceId());
        for (GroupRead group : e.groups()) {
          group(out, group);
        }
        out.deltas(5, e.extentOffsets());
        out.deltas(6, e.extentGenerations());
        out.uint(7, e.ticketId());
        out.uint(8, e.forSessionId());
        out.string(9, e.forRequest());
      }
      case HostEvent.RemoteReadQuarantined e -> {
        out.uint(1, e.readId());
        out.uint(2, EnumCodes.code(e.reason()));
        out.string(3, e.detail());
      }
      case HostEvent.RemoteReadEnded e -> {
        out.uint(1, e.readId());
        out.runs(2, e.arrived());
        out.fixeds(3, e.checksums());
        out.uint(4, EnumCodes.code(e.failure()));
        out.string(5, e.detail());
        out.fixed(6, e.grantHigh());
        out.fixed(7, e.grantLow());
        out.uint(8, e.bytes());
        out.uint(9, e.durationMicros());
      }
    }
  }

  static void encode(WireWriter out, HostEvent.PlacementSeen fact) {
    out.uint32(1, fact.catalogShard());
    out.uint(2, fact.generation());
    for (String member : fact.members()) {
      out.string(3, member);
    }
  }

  private static void peer(WireWriter out, int field, PeerId peer) {
    int mark = out.begin(field);
    out.string(1, peer.node());
    out.fixed(2, peer.runtimeHigh());
    out.fixed(3, peer.runtimeLow());
    out.end(mark);
  }

  private static void group(WireWriter out, GroupRead group) {
    int mark = out.begin(4);
    out.uint32(1, group.groupId());
    out.uint(2, group.firstBlockId());
    out.keys(3, 4, group.keys());
    out.deltas(5, group.sliceBytes());
    out.end(mark);
  }

  /**
   * @param type a {@link FactType} of work with other hosts
   * @throws UnreadableRecord when something in the payload is not known, or does not parse
   */
  static HostEvent decode(int type, long atMicros, WireReader in) {
    return switch (type) {
      case FactType.GRANT_OPENED -> grantOpened(atMicros, in);
      case FactType.GRANT_CLOSED -> grantClosed(in);
      case FactType.REMOTE_READ_BEGUN -> remoteReadBegun(in);
      case FactType.REMOTE_READ_QUARANTINED -> remoteReadQuarantined(in);
      case FactType.REMOTE_READ_ENDED -> remoteReadEnded(in);
      case FactType.PLACEMENT_SEEN -> placementSeen(in);
      default -> throw new UnreadableRecord("record type " + type + " is of no other host");
    };
  }

  private static HostEvent grantOpened(long atMicros, WireReader in) {
    long grantId = 0;
    long uuidHigh = 0;
    long uuidLow = 0;
    PeerId peer = NOBODY;
    LongRanges blocks = LongRanges.EMPTY;
    long bytes = 0;
    long expiresAfterMicros = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> grantId = in.uint();
        case 2 -> uuidHigh = in.fixed();
        case 3 -> uuidLow = in.fixed();
        case 4 -> peer = peer(in);
        case 5 -> blocks = in.runs();
        case 6 -> bytes = in.uint();
        case 7 -> expiresAfterMicros = in.sint();
        default -> throw in.unknownField("GrantOpened");
      }
    }
    return new HostEvent.GrantOpened(
        grantId, uuidHigh, uuidLow, peer, blocks, bytes, atMicros + expiresAfterMicros);
  }

  private static HostEvent grantClosed(WireReader in) {
    long grantId = 0;
    int reason = 0;
    long reads = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> grantId = in.uint();
        case 2 -> reason = in.uint32();
        case 3 -> reads = in.uint();
        default -> throw in.unknownField("GrantClosed");
      }
    }
    return new HostEvent.GrantClosed(grantId, EnumCodes.grantEnd(reason), reads);
  }

  private static HostEvent remoteReadBegun(WireReader in) {
    long readId = 0;
    PeerId owner = NOBODY;
    int namespaceId = 0;
    List<GroupRead> groups = new ArrayList<>();
    Longs extentOffsets = Longs.EMPTY;
    Longs extentGenerations = Longs.EMPTY;
    long ticketId = 0;
    long forSessionId = 0;
    String forRequest = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> readId = in.uint();
        case 2 -> owner = peer(in);
        case 3 -> namespaceId = in.uint32();
        case 4 -> groups.add(group(in));
        case 5 -> extentOffsets = in.deltas();
        case 6 -> extentGenerations = in.deltas();
        case 7 -> ticketId = in.uint();
        case 8 -> forSessionId = in.uint();
        case 9 -> forRequest = in.string();
        default -> throw in.unknownField("RemoteReadBegun");
      }
    }
    return new HostEvent.RemoteReadBegun(
        readId,
        owner,
        namespaceId,
        List.copyOf(groups),
        extentOffsets,
        extentGenerations,
        ticketId,
        forSessionId,
        forRequest);
  }

  private static HostEvent remoteReadQuarantined(WireReader in) {
    long readId = 0;
    int reason = 0;
    String detail = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> readId = in.uint();
        case 2 -> reason = in.uint32();
        case 3 -> detail = in.string();
        default -> throw in.unknownField("RemoteReadQuarantined");
      }
    }
    return new HostEvent.RemoteReadQuarantined(readId, EnumCodes.remoteFailure(reason), detail);
  }

  private static HostEvent remoteReadEnded(WireReader in) {
    long readId = 0;
    LongRanges arrived = LongRanges.EMPTY;
    Longs checksums = Longs.EMPTY;
    int failure = 0;
    String detail = "";
    long grantHigh = 0;
    long grantLow = 0;
    long bytes = 0;
    long durationMicros = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> readId = in.uint();
        case 2 -> arrived = in.runs();
        case 3 -> checksums = in.fixeds();
        case 4 -> failure = in.uint32();
        case 5 -> detail = in.string();
        case 6 -> grantHigh = in.fixed();
        case 7 -> grantLow = in.fixed();
        case 8 -> bytes = in.uint();
        case 9 -> durationMicros = in.uint();
        default -> throw in.unknownField("RemoteReadEnded");
      }
    }
    return new HostEvent.RemoteReadEnded(
        readId,
        arrived,
        checksums,
        EnumCodes.remoteFailure(failure),
        detail,
        grantHigh,
        grantLow,
        bytes,
        durationMicros);
  }

  private static HostEvent placementSeen(WireReader in) {
    int catalogShard = 0;
    long generation = 0;
    List<String> members = new ArrayList<>();
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> catalogShard = in.uint32();
        case 2 -> generation = in.uint();
        case 3 -> members.add(in.string());
        default -> throw in.unknownField("PlacementSeen");
      }
    }
    return new HostEvent.PlacementSeen(catalogShard, generation, List.copyOf(members));
  }

  private static PeerId peer(WireReader in) {
    int outer = in.enter();
    String node = "";
    long runtimeHigh = 0;
    long runtimeLow = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> node = in.string();
        case 2 -> runtimeHigh = in.fixed();
        case 3 -> runtimeLow = in.fixed();
        default -> throw in.unknownField("Peer");
      }
    }
    in.leave(outer);
    return new PeerId(node, runtimeHigh, runtimeLow);
  }

  private static GroupRead group(WireReader in) {
    int outer = in.enter();
    int groupId = 0;
    long firstBlockId = 0;
    int keyBytes = 0;
    byte[] keys = new byte[0];
    Longs sliceBytes = Longs.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> groupId = in.uint32();
        case 2 -> firstBlockId = in.uint();
        case 3 -> keyBytes = in.uint32();
        case 4 -> keys = in.bytes();
        case 5 -> sliceBytes = in.deltas();
        default -> throw in.unknownField("GroupRead");
      }
    }
    in.leave(outer);
    return new GroupRead(groupId, firstBlockId, WireReader.keys(keyBytes, keys), sliceBytes);
  }
}
