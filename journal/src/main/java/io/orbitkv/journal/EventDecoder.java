package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the payload of each fact as {@code journal.proto} declares it: the inverse of {@link
 * EventEncoder}.
 */
final class EventDecoder {
  private static final byte[] NO_BYTES = new byte[0];

  private EventDecoder() {}

  /**
   * @param type a {@link FactType}
   * @throws UnreadableRecord when the type or something in the payload is not known, or does not
   *     parse
   */
  static HostEvent decode(int type, long atMicros, WireReader in) {
    return switch (type) {
      case FactType.EPOCH_STARTED -> epochStarted(in);
      case FactType.EPOCH_ENDED -> epochEnded(in);
      case FactType.NAMESPACE_BOUND -> namespaceBound(in);
      case FactType.NAMESPACE_UNBOUND -> namespaceUnbound(in);
      case FactType.INSTANCE_REGISTERED -> instanceRegistered(in);
      case FactType.INSTANCE_CLEANED -> instanceCleaned(in);
      case FactType.SESSION_OPENED -> sessionOpened(in);
      case FactType.SESSION_CLOSED -> sessionClosed(in);
      case FactType.SLICES_RESERVED -> slicesReserved(in);
      case FactType.SLICES_PUBLISHED -> slicesPublished(in);
      case FactType.PUBLISH_ABORTED -> publishAborted(in);
      case FactType.BLOCKS_EVICTED -> blocksEvicted(in);
      case FactType.LEASE_GRANTED -> leaseGranted(atMicros, in);
      case FactType.LEASE_RELEASED -> leaseReleased(in);
      case FactType.TICKET_OPENED -> ticketOpened(in);
      case FactType.TICKET_CLOSED -> ticketClosed(in);
      case FactType.RESTORE_STARTED -> restoreStarted(in);
      case FactType.RESTORE_FINISHED -> restoreFinished(in);
      case FactType.QUERY_MISSED -> queryMissed(in);
      case FactType.REQUEST_REFUSED -> requestRefused(in);
      case FactType.REGISTRATION_REFUSED -> registrationRefused(in);
      case FactType.VERIFY_FAILED -> verifyFailed(in);
      case FactType.DIGEST_RECORDED -> digestRecorded(in);
      case FactType.SSD_TIER_OPENED,
          FactType.LAYERS_BOUND,
          FactType.SSD_WRITTEN,
          FactType.SSD_EVICTED,
          FactType.BLOCKS_DEMOTED,
          FactType.BLOCKS_LOADING,
          FactType.BLOCKS_LOADED,
          FactType.LOAD_FAILED,
          FactType.TIER_DEGRADED,
          FactType.TIER_RECOVERED,
          FactType.SSD_SKIPPED ->
          TierCodec.decode(type, in);
      case FactType.POOL_OPENED,
          FactType.BLOCKS_KEPT,
          FactType.BLOCKS_ADOPTED,
          FactType.BLOCKS_NOT_ADOPTED ->
          PoolCodec.decode(type, in);
      case FactType.GRANT_OPENED,
          FactType.GRANT_CLOSED,
          FactType.REMOTE_READ_BEGUN,
          FactType.REMOTE_READ_QUARANTINED,
          FactType.REMOTE_READ_ENDED,
          FactType.PLACEMENT_SEEN ->
          PeerCodec.decode(type, atMicros, in);
      default ->
          throw new UnreadableRecord(
              "record type " + type + " is not known to this version: use a newer orbitkv");
    };
  }

  private static HostEvent.EpochStarted epochStarted(WireReader in) {
    long epoch = 0;
    String version = "";
    long poolBytes = 0;
    String settings = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> epoch = in.uint();
        case 2 -> version = in.string();
        case 3 -> poolBytes = in.uint();
        case 4 -> settings = in.string();
        default -> throw in.unknownField("EpochStarted");
      }
    }
    return new HostEvent.EpochStarted(epoch, version, poolBytes, settings);
  }

  private static HostEvent.EpochEnded epochEnded(WireReader in) {
    long epoch = 0;
    String reason = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> epoch = in.uint();
        case 2 -> reason = in.string();
        default -> throw in.unknownField("EpochEnded");
      }
    }
    return new HostEvent.EpochEnded(epoch, reason);
  }

  private static HostEvent.NamespaceBound namespaceBound(WireReader in) {
    int namespaceId = 0;
    String namespace = "";
    StateFormat format = null;
    int shardCount = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> namespaceId = in.uint32();
        case 2 -> namespace = in.string();
        case 3 -> format = IdentityCodec.decodeFormat(in);
        case 4 -> shardCount = in.uint32();
        default -> throw in.unknownField("NamespaceBound");
      }
    }
    if (format == null) {
      throw new UnreadableRecord("NamespaceBound without a format");
    }
    return new HostEvent.NamespaceBound(namespaceId, namespace, format, shardCount);
  }

  private static HostEvent.NamespaceUnbound namespaceUnbound(WireReader in) {
    int namespaceId = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      if (number != 1) {
        throw in.unknownField("NamespaceUnbound");
      }
      namespaceId = in.uint32();
    }
    return new HostEvent.NamespaceUnbound(namespaceId);
  }

  private static HostEvent.InstanceRegistered instanceRegistered(WireReader in) {
    long instanceId = 0;
    String instance = "";
    int namespaceId = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> instanceId = in.uint();
        case 2 -> instance = in.string();
        case 3 -> namespaceId = in.uint32();
        default -> throw in.unknownField("InstanceRegistered");
      }
    }
    return new HostEvent.InstanceRegistered(instanceId, instance, namespaceId);
  }

  private static HostEvent.InstanceCleaned instanceCleaned(WireReader in) {
    long instanceId = 0;
    int reason = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> instanceId = in.uint();
        case 2 -> reason = in.uint32();
        default -> throw in.unknownField("InstanceCleaned");
      }
    }
    return new HostEvent.InstanceCleaned(instanceId, EnumCodes.cleanupReason(reason));
  }

  private static HostEvent.SessionOpened sessionOpened(WireReader in) {
    long sessionId = 0;
    long instanceId = 0;
    int shard = 0;
    int role = 0;
    int pid = 0;
    int uid = 0;
    long supersedes = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> sessionId = in.uint();
        case 2 -> instanceId = in.uint();
        case 3 -> shard = in.uint32();
        case 4 -> role = in.uint32();
        case 5 -> pid = in.uint32();
        case 6 -> uid = in.uint32();
        case 7 -> supersedes = in.uint();
        default -> throw in.unknownField("SessionOpened");
      }
    }
    return new HostEvent.SessionOpened(
        sessionId, instanceId, shard, EnumCodes.sessionRole(role), pid, uid, supersedes);
  }

  private static HostEvent.SessionClosed sessionClosed(WireReader in) {
    long sessionId = 0;
    int reason = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> sessionId = in.uint();
        case 2 -> reason = in.uint32();
        default -> throw in.unknownField("SessionClosed");
      }
    }
    return new HostEvent.SessionClosed(sessionId, EnumCodes.sessionEnd(reason));
  }

  private static HostEvent.SlicesReserved slicesReserved(WireReader in) {
    long publishId = 0;
    long sessionId = 0;
    String request = "";
    int groupId = 0;
    int shard = 0;
    LongRanges blocks = LongRanges.EMPTY;
    long firstNewBlockId = 0;
    int keyBytes = 0;
    byte[] newKeys = NO_BYTES;
    Longs extentOffsets = Longs.EMPTY;
    Longs extentGenerations = Longs.EMPTY;
    int extentBytes = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> publishId = in.uint();
        case 2 -> sessionId = in.uint();
        case 3 -> request = in.string();
        case 4 -> groupId = in.uint32();
        case 5 -> shard = in.uint32();
        case 6 -> blocks = in.runs();
        case 7 -> firstNewBlockId = in.uint();
        case 8 -> keyBytes = in.uint32();
        case 9 -> newKeys = in.bytes();
        case 10 -> extentOffsets = in.deltas();
        case 11 -> extentGenerations = in.deltas();
        case 12 -> extentBytes = in.uint32();
        default -> throw in.unknownField("SlicesReserved");
      }
    }
    return new HostEvent.SlicesReserved(
        publishId,
        sessionId,
        request,
        groupId,
        shard,
        blocks,
        firstNewBlockId,
        WireReader.keys(keyBytes, newKeys),
        extentOffsets,
        extentGenerations,
        extentBytes);
  }

  private static HostEvent.SlicesPublished slicesPublished(WireReader in) {
    long publishId = 0;
    Longs checksums = Longs.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> publishId = in.uint();
        case 2 -> checksums = in.fixeds();
        default -> throw in.unknownField("SlicesPublished");
      }
    }
    return new HostEvent.SlicesPublished(publishId, checksums);
  }

  private static HostEvent.PublishAborted publishAborted(WireReader in) {
    long publishId = 0;
    int reason = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> publishId = in.uint();
        case 2 -> reason = in.uint32();
        default -> throw in.unknownField("PublishAborted");
      }
    }
    return new HostEvent.PublishAborted(publishId, EnumCodes.abortReason(reason));
  }

  private static HostEvent.BlocksEvicted blocksEvicted(WireReader in) {
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
        default -> throw in.unknownField("BlocksEvicted");
      }
    }
    return new HostEvent.BlocksEvicted(
        blocks, EnumCodes.evictionCause(cause), forSessionId, forRequest);
  }

  private static HostEvent.LeaseGranted leaseGranted(long atMicros, WireReader in) {
    long leaseId = 0;
    long sessionId = 0;
    String request = "";
    long ticketId = 0;
    long expiresAfterMicros = 0;
    List<HostEvent.GroupLease> held = new ArrayList<>(2);
    List<HostEvent.GroupAnswer> answers = new ArrayList<>(2);
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> leaseId = in.uint();
        case 2 -> sessionId = in.uint();
        case 3 -> request = in.string();
        case 4 -> ticketId = in.uint();
        case 5 -> expiresAfterMicros = in.sint();
        case 6 -> held.add(groupLease(in));
        case 7 -> answers.add(groupAnswer(in));
        default -> throw in.unknownField("LeaseGranted");
      }
    }
    return new HostEvent.LeaseGranted(
        leaseId,
        sessionId,
        request,
        ticketId,
        atMicros + expiresAfterMicros,
        List.copyOf(held),
        List.copyOf(answers));
  }

  private static HostEvent.LeaseReleased leaseReleased(WireReader in) {
    long leaseId = 0;
    int reason = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> leaseId = in.uint();
        case 2 -> reason = in.uint32();
        default -> throw in.unknownField("LeaseReleased");
      }
    }
    return new HostEvent.LeaseReleased(leaseId, EnumCodes.leaseEnd(reason));
  }

  private static HostEvent.TicketOpened ticketOpened(WireReader in) {
    long ticketId = 0;
    long sessionId = 0;
    String request = "";
    LongRanges awaited = LongRanges.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> ticketId = in.uint();
        case 2 -> sessionId = in.uint();
        case 3 -> request = in.string();
        case 4 -> awaited = in.runs();
        default -> throw in.unknownField("TicketOpened");
      }
    }
    return new HostEvent.TicketOpened(ticketId, sessionId, request, awaited);
  }

  private static HostEvent.TicketClosed ticketClosed(WireReader in) {
    long ticketId = 0;
    int outcome = 0;
    long leaseId = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> ticketId = in.uint();
        case 2 -> outcome = in.uint32();
        case 3 -> leaseId = in.uint();
        default -> throw in.unknownField("TicketClosed");
      }
    }
    return new HostEvent.TicketClosed(ticketId, EnumCodes.ticketEnd(outcome), leaseId);
  }

  private static HostEvent.RestoreStarted restoreStarted(WireReader in) {
    long restoreId = 0;
    long sessionId = 0;
    long leaseId = 0;
    int blocks = 0;
    long bytes = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> restoreId = in.uint();
        case 2 -> sessionId = in.uint();
        case 3 -> leaseId = in.uint();
        case 4 -> blocks = in.uint32();
        case 5 -> bytes = in.uint();
        default -> throw in.unknownField("RestoreStarted");
      }
    }
    return new HostEvent.RestoreStarted(restoreId, sessionId, leaseId, blocks, bytes);
  }

  private static HostEvent.RestoreFinished restoreFinished(WireReader in) {
    long restoreId = 0;
    int outcome = 0;
    long bytes = 0;
    long durationMicros = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> restoreId = in.uint();
        case 2 -> outcome = in.uint32();
        case 3 -> bytes = in.uint();
        case 4 -> durationMicros = in.uint();
        default -> throw in.unknownField("RestoreFinished");
      }
    }
    return new HostEvent.RestoreFinished(
        restoreId, EnumCodes.restoreOutcome(outcome), bytes, durationMicros);
  }

  private static HostEvent.QueryMissed queryMissed(WireReader in) {
    long sessionId = 0;
    String request = "";
    List<HostEvent.GroupAnswer> answers = new ArrayList<>(2);
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> sessionId = in.uint();
        case 2 -> request = in.string();
        case 3 -> answers.add(groupAnswer(in));
        default -> throw in.unknownField("QueryMissed");
      }
    }
    return new HostEvent.QueryMissed(sessionId, request, List.copyOf(answers));
  }

  private static HostEvent.RequestRefused requestRefused(WireReader in) {
    long sessionId = 0;
    String request = "";
    int operation = 0;
    int category = 0;
    String reason = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> sessionId = in.uint();
        case 2 -> request = in.string();
        case 3 -> operation = in.uint32();
        case 4 -> category = in.uint32();
        case 5 -> reason = in.string();
        default -> throw in.unknownField("RequestRefused");
      }
    }
    return new HostEvent.RequestRefused(
        sessionId,
        request,
        EnumCodes.operation(operation),
        EnumCodes.refusalCategory(category),
        reason);
  }

  private static HostEvent.RegistrationRefused registrationRefused(WireReader in) {
    String instance = "";
    String namespace = "";
    String field = "";
    String reason = "";
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> instance = in.string();
        case 2 -> namespace = in.string();
        case 3 -> field = in.string();
        case 4 -> reason = in.string();
        default -> throw in.unknownField("RegistrationRefused");
      }
    }
    return new HostEvent.RegistrationRefused(instance, namespace, field, reason);
  }

  private static HostEvent.VerifyFailed verifyFailed(WireReader in) {
    long blockId = 0;
    int shard = 0;
    long restoreId = 0;
    long expected = 0;
    long actual = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> blockId = in.uint();
        case 2 -> shard = in.uint32();
        case 3 -> restoreId = in.uint();
        case 4 -> expected = in.fixed();
        case 5 -> actual = in.fixed();
        default -> throw in.unknownField("VerifyFailed");
      }
    }
    return new HostEvent.VerifyFailed(blockId, shard, restoreId, expected, actual);
  }

  private static HostEvent.DigestRecorded digestRecorded(WireReader in) {
    long digest = 0;
    long liveBlocks = 0;
    long openLeases = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> digest = in.fixed();
        case 2 -> liveBlocks = in.uint();
        case 3 -> openLeases = in.uint();
        default -> throw in.unknownField("DigestRecorded");
      }
    }
    return new HostEvent.DigestRecorded(digest, liveBlocks, openLeases);
  }

  private static HostEvent.GroupLease groupLease(WireReader in) {
    int outer = in.enter();
    int groupId = 0;
    int startToken = 0;
    LongRanges blocks = LongRanges.EMPTY;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> groupId = in.uint32();
        case 2 -> startToken = in.uint32();
        case 3 -> blocks = in.runs();
        default -> throw in.unknownField("GroupLease");
      }
    }
    in.leave(outer);
    return new HostEvent.GroupLease(groupId, startToken, blocks);
  }

  private static HostEvent.GroupAnswer groupAnswer(WireReader in) {
    int outer = in.enter();
    int groupId = 0;
    int askedBlocks = 0;
    long missedBlocks = 0;
    int keyBytes = 0;
    byte[] missingKeys = NO_BYTES;
    int missingKeysOmitted = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> groupId = in.uint32();
        case 2 -> askedBlocks = in.uint32();
        case 3 -> missedBlocks = in.sint();
        case 4 -> keyBytes = in.uint32();
        case 5 -> missingKeys = in.bytes();
        case 6 -> missingKeysOmitted = in.uint32();
        default -> throw in.unknownField("GroupAnswer");
      }
    }
    in.leave(outer);
    return new HostEvent.GroupAnswer(
        groupId,
        askedBlocks,
        (int) (askedBlocks - missedBlocks),
        WireReader.keys(keyBytes, missingKeys),
        missingKeysOmitted);
  }
}
