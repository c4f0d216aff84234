package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import java.util.List;

/**
 * Writes the payload of each fact as {@code journal.proto} declares it. Field numbers are those of
 * the schema.
 */
final class EventEncoder {
  private EventEncoder() {}

  static void encode(WireWriter out, long atMicros, HostEvent event) {
    switch (event) {
      case HostEvent.EpochStarted e -> {
        out.uint(1, e.epoch());
        out.string(2, e.version());
        out.uint(3, e.poolBytes());
        out.string(4, e.settings());
      }
      case HostEvent.EpochEnded e -> {
        out.uint(1, e.epoch());
        out.string(2, e.reason());
      }
      case HostEvent.NamespaceBound e -> {
        out.uint32(1, e.namespaceId());
        out.string(2, e.namespace());
        IdentityCodec.encodeFormat(out, 3, e.format());
        out.uint32(4, e.shardCount());
      }
      case HostEvent.NamespaceUnbound e -> out.uint32(1, e.namespaceId());
      case HostEvent.InstanceRegistered e -> {
        out.uint(1, e.instanceId());
        out.string(2, e.instance());
        out.uint32(3, e.namespaceId());
      }
      case HostEvent.InstanceCleaned e -> {
        out.uint(1, e.instanceId());
        out.uint(2, EnumCodes.code(e.reason()));
      }
      case HostEvent.SessionOpened e -> {
        out.uint(1, e.sessionId());
        out.uint(2, e.instanceId());
        out.uint32(3, e.shard());
        out.uint(4, EnumCodes.code(e.role()));
        out.uint32(5, e.pid());
        out.uint32(6, e.uid());
        out.uint(7, e.supersedes());
      }
      case HostEvent.SessionClosed e -> {
        out.uint(1, e.sessionId());
        out.uint(2, EnumCodes.code(e.reason()));
      }
      case HostEvent.SlicesReserved e -> {
        out.uint(1, e.publishId());
        out.uint(2, e.sessionId());
        out.string(3, e.request());
        out.uint32(4, e.groupId());
        out.uint32(5, e.shard());
        out.runs(6, e.blocks());
        out.uint(7, e.firstNewBlockId());
        out.keys(8, 9, e.newKeys());
        out.deltas(10, e.extentOffsets());
        out.deltas(11, e.extentGenerations());
        out.uint32(12, e.extentBytes());
      }
      case HostEvent.SlicesPublished e -> {
        out.uint(1, e.publishId());
        out.fixeds(2, e.checksums());
      }
      case HostEvent.PublishAborted e -> {
        out.uint(1, e.publishId());
        out.uint(2, EnumCodes.code(e.reason()));
      }
      case HostEvent.BlocksEvicted e -> {
        out.runs(1, e.blocks());
        out.uint(2, EnumCodes.code(e.cause()));
        out.uint(3, e.forSessionId());
        out.string(4, e.forRequest());
      }
      case HostEvent.LeaseGranted e -> {
        out.uint(1, e.leaseId());
        out.uint(2, e.sessionId());
        out.string(3, e.request());
        out.uint(4, e.ticketId());
        out.sint(5, e.expiresAtMicros() - atMicros);
        for (int i = 0; i < e.held().size(); i++) {
          groupLease(out, e.held().get(i));
        }
        answers(out, 7, e.answers());
      }
      case HostEvent.LeaseReleased e -> {
        out.uint(1, e.leaseId());
        out.uint(2, EnumCodes.code(e.reason()));
      }
      case HostEvent.TicketOpened e -> {
        out.uint(1, e.ticketId());
        out.uint(2, e.sessionId());
        out.string(3, e.request());
        out.runs(4, e.awaited());
      }
      case HostEvent.TicketClosed e -> {
        out.uint(1, e.ticketId());
        out.uint(2, EnumCodes.code(e.outcome()));
        out.uint(3, e.leaseId());
      }
      case HostEvent.RestoreStarted e -> {
        out.uint(1, e.restoreId());
        out.uint(2, e.sessionId());
        out.uint(3, e.leaseId());
        out.uint32(4, e.blocks());
        out.uint(5, e.bytes());
      }
      case HostEvent.RestoreFinished e -> {
        out.uint(1, e.restoreId());
        out.uint(2, EnumCodes.code(e.outcome()));
        out.uint(3, e.bytes());
        out.uint(4, e.durationMicros());
      }
      case HostEvent.QueryMissed e -> {
        out.uint(1, e.sessionId());
        out.string(2, e.request());
        answers(out, 3, e.answers());
      }
      case HostEvent.RequestRefused e -> {
        out.uint(1, e.sessionId());
        out.string(2, e.request());
        out.uint(3, EnumCodes.code(e.operation()));
        out.uint(4, EnumCodes.code(e.category()));
        out.string(5, e.reason());
      }
      case HostEvent.RegistrationRefused e -> {
        out.string(1, e.instance());
        out.string(2, e.namespace());
        out.string(3, e.field());
        out.string(4, e.reason());
      }
      case HostEvent.VerifyFailed e -> {
        out.uint(1, e.blockId());
        out.uint32(2, e.shard());
        out.uint(3, e.restoreId());
        out.fixed(4, e.expected());
        out.fixed(5, e.actual());
      }
      case HostEvent.DigestRecorded e -> {
        out.fixed(1, e.digest());
        out.uint(2, e.liveBlocks());
        out.uint(3, e.openLeases());
      }
      case HostEvent.TierFact e -> TierCodec.encode(out, e);
      case HostEvent.PeerFact e -> PeerCodec.encode(out, atMicros, e);
      case HostEvent.PlacementSeen e -> PeerCodec.encode(out, e);
    }
  }

  private static void groupLease(WireWriter out, HostEvent.GroupLease lease) {
    int mark = out.begin(6);
    out.uint32(1, lease.groupId());
    out.uint32(2, lease.startToken());
    out.runs(3, lease.blocks());
    out.end(mark);
  }

  private static void answers(WireWriter out, int field, List<HostEvent.GroupAnswer> answers) {
    for (int i = 0; i < answers.size(); i++) {
      HostEvent.GroupAnswer answer = answers.get(i);
      int mark = out.begin(field);
      out.uint32(1, answer.groupId());
      out.uint32(2, answer.askedBlocks());
      out.sint(3, (long) answer.askedBlocks() - answer.hitBlocks());
      out.keys(4, 5, answer.missingKeys());
      out.uint32(6, answer.missingKeysOmitted());
      out.end(mark);
    }
  }
}
