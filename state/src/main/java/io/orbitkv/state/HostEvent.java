package io.orbitkv.state;

import io.orbitkv.state.identity.StateFormat;
import java.util.List;

/**
 * A fact: something that happened on this host, appended to the journal before anybody was told of
 * it.
 *
 * <p>The host's state is the fold of these facts by {@link HostState#apply}. A fact carries
 * everything the fold needs and nothing that the fold can derive: that a block is sealed follows
 * from the last shard's {@link SlicesPublished}, that an extent's memory returned follows from the
 * last lease and operation that ended.
 *
 * <p>{@link Observation} facts change nothing but totals; they are there so that {@code orbitkv
 * replay --why} can say what a request asked and why it missed.
 */
public sealed interface HostEvent {

  /** Changes totals only. */
  sealed interface Observation extends HostEvent {}

  // ---- epochs
  // ------------------------------------------------------------------------------------------------------

  /** A daemon run began. Facts that abandon whatever the last run left open follow it. */
  record EpochStarted(long epoch, String version, long poolBytes, String settings)
      implements HostEvent {}

  /**
   * A daemon run ended in order. Its absence before the next {@link EpochStarted} means a crash.
   */
  record EpochEnded(long epoch, String reason) implements HostEvent {}

  // ---- identity
  // ----------------------------------------------------------------------------------------------------

  /**
   * A namespace got its only legal format; later registrations must match it.
   *
   * @param namespaceId at least 1
   * @param format its groups are the namespace's groups
   * @param shardCount shards whose slices this host holds, 1 to {@link HostState#MAX_SHARDS}
   */
  record NamespaceBound(int namespaceId, String namespace, StateFormat format, int shardCount)
      implements HostEvent {}

  /** No instance and no block used the namespace any more, so another format may bind it. */
  record NamespaceUnbound(int namespaceId) implements HostEvent {}

  record InstanceRegistered(long instanceId, String instance, int namespaceId)
      implements HostEvent {}

  /** Every queue of the instance had drained and its mappings were closed. */
  record InstanceCleaned(long instanceId, CleanupReason reason) implements HostEvent {}

  /**
   * A process of an instance connected.
   *
   * @param shard the TP/PP rank's index, {@code 0 <= shard < shardCount}
   * @param supersedes the session of the same instance, shard and role that this one replaced, 0 if
   *     none
   */
  record SessionOpened(
      long sessionId,
      long instanceId,
      int shard,
      SessionRole role,
      int pid,
      int uid,
      long supersedes)
      implements HostEvent {}

  record SessionClosed(long sessionId, SessionEnd reason) implements HostEvent {}

  // ---- publish
  // -----------------------------------------------------------------------------------------------------

  /**
   * Extents were set aside for one shard's slices of some blocks; the bytes are being copied in.
   *
   * @param blocks in request order; ids from {@code firstNewBlockId} on are new and have a key in
   *     {@code newKeys}, the others joined a block that another shard had begun
   * @param extentOffsets byte offset in the pool, one per block
   * @param extentGenerations the generation of that offset, one per block
   * @param extentBytes allocated bytes of each extent
   */
  record SlicesReserved(
      long publishId,
      long sessionId,
      String request,
      int groupId,
      int shard,
      LongRanges blocks,
      long firstNewBlockId,
      Keys newKeys,
      Longs extentOffsets,
      Longs extentGenerations,
      int extentBytes)
      implements HostEvent {}

  /**
   * All bytes of the publish lie in its extents. A block whose every shard has published is sealed
   * by this fact.
   */
  record SlicesPublished(long publishId, Longs checksums) implements HostEvent {}

  record PublishAborted(long publishId, AbortReason reason) implements HostEvent {}

  /** The blocks can be found no more; their memory returns with their last lease and operation. */
  record BlocksEvicted(LongRanges blocks, EvictionCause cause, long forSessionId, String forRequest)
      implements HostEvent {}

  // ---- query, lease, restore
  // ---------------------------------------------------------------------------------------

  /** One group of a query: what was asked and how much of it was found. */
  record GroupAnswer(
      int groupId, int askedBlocks, int hitBlocks, Keys missingKeys, int missingKeysOmitted) {}

  /**
   * One group's leased blocks, in request order, from the page that starts at {@code startToken}.
   */
  record GroupLease(int groupId, int startToken, LongRanges blocks) {}

  record LeaseGranted(
      long leaseId,
      long sessionId,
      String request,
      long ticketId,
      long expiresAtMicros,
      List<GroupLease> held,
      List<GroupAnswer> answers)
      implements HostEvent {}

  record LeaseReleased(long leaseId, LeaseEnd reason) implements HostEvent {}

  /** A query waits for blocks that are on their way. */
  record TicketOpened(long ticketId, long sessionId, String request, LongRanges awaited)
      implements HostEvent {}

  /**
   * A query waits no longer.
   *
   * @param leaseId the lease the ticket turned into, 0 if none
   */
  record TicketClosed(long ticketId, TicketEnd outcome, long leaseId) implements HostEvent {}

  /**
   * Reads under a lease were submitted; they pin its blocks until {@link RestoreFinished}, whatever
   * the lease does.
   */
  record RestoreStarted(long restoreId, long sessionId, long leaseId, int blocks, long bytes)
      implements HostEvent {}

  record RestoreFinished(long restoreId, RestoreOutcome outcome, long bytes, long durationMicros)
      implements HostEvent {}

  // ---- observations
  // ------------------------------------------------------------------------------------------------

  /** A query found nothing that could be leased. */
  record QueryMissed(long sessionId, String request, List<GroupAnswer> answers)
      implements Observation {}

  /** A request of a known session was refused for want of something, or because it was stale. */
  record RequestRefused(
      long sessionId, String request, Operation operation, RefusalCategory category, String reason)
      implements Observation {}

  record RegistrationRefused(String instance, String namespace, String field, String reason)
      implements Observation {}

  /** A stored slice's bytes no longer had the sum that was recorded when they were published. */
  record VerifyFailed(long blockId, int shard, long restoreId, long expected, long actual)
      implements Observation {}

  /**
   * The digest of the state after the fact before this one; {@code replay --verify} compares it.
   */
  record DigestRecorded(long digest, long liveBlocks, long openLeases) implements Observation {}

  // ---- SSD tier
  // ------------------------------------------------------------------------------------------------

  /**
   * What happens to the SSD tier and between it and DRAM; a host without a tier and without a
   * {@link PoolFact pool that outlives the daemon} has none of these.
   *
   * <p>Columns with a number per slice hold the slices of the first block, then those of the
   * second, and so on: a block of a replicated group has one slice, any other one for each shard.
   */
  sealed interface TierFact extends HostEvent {}

  /**
   * The SSD tier is open. What an older tier held was dropped before ({@link SsdEvicted}).
   *
   * @param tierIdHigh with {@code tierIdLow} the UUID that the tier's files carry
   * @param fileBytes how many bytes of each file may hold extents, from offset 0
   */
  record SsdTierOpened(long tierIdHigh, long tierIdLow, Longs fileBytes) implements TierFact {}

  /**
   * How a slice is cut in layers: what the bytes on SSD mean to whoever registers after a restart.
   *
   * @param slice the shard, 0 for a replicated group
   * @param layers the model's layer numbers, ascending
   * @param layerBytes bytes of one block in each of them
   */
  record LayersBound(int namespaceId, int groupId, int slice, Longs layers, Longs layerBytes)
      implements TierFact {}

  /**
   * Copies of sealed blocks lie on SSD in full.
   *
   * @param files the tier's file of each slice
   * @param offsets byte offset in the file
   * @param generations of the SSD extents; like those of the pool never given twice
   */
  record SsdWritten(LongRanges blocks, Longs files, Longs offsets, Longs generations)
      implements TierFact {}

  /** SSD copies are gone. A block that was on SSD only can be found no more. */
  record SsdEvicted(LongRanges blocks, SsdEvictionCause cause, long forSessionId, String forRequest)
      implements TierFact {}

  /** The DRAM copies of blocks that nothing pins are gone; their SSD copies can still be found. */
  record BlocksDemoted(LongRanges blocks, EvictionCause cause, long forSessionId, String forRequest)
      implements TierFact {}

  /**
   * Blocks that are on SSD only are being read back. Until the end of the read, told by {@link
   * BlocksLoaded} or {@link LoadFailed}, it pins them.
   *
   * @param extentOffsets where each slice goes in the pool
   * @param ticketId the ticket that was the first to want them, 0 if none
   */
  record BlocksLoading(
      LongRanges blocks,
      Longs extentOffsets,
      Longs extentGenerations,
      long ticketId,
      long forSessionId,
      String forRequest)
      implements TierFact {}

  /** Every byte of the blocks is back in the pool and had its sum. */
  record BlocksLoaded(LongRanges blocks, long bytes, long durationMicros) implements TierFact {}

  /**
   * Blocks did not come back. What was read is given back; the SSD copy is dropped with it unless
   * the reason is none of its own ({@link LoadFailure#CANCELLED}, {@link LoadFailure#RESTART}).
   */
  record LoadFailed(LongRanges blocks, LoadFailure reason, String detail) implements TierFact {}

  /** The tier takes no writes, or no reads either, until {@link TierRecovered}. */
  record TierDegraded(TierTrouble trouble, String detail) implements TierFact {}

  record TierRecovered(TierTrouble trouble) implements TierFact {}

  /** Blocks that leave DRAM now, or the tier's order of use, never got a copy on SSD. */
  record SsdSkipped(LongRanges blocks, SsdSkip reason) implements TierFact {}

  // ---- a pool that outlives the daemon
  // ------------------------------------------------------------------------------------------------

  /**
   * What happens to a DRAM pool that outlives the daemon; a host that keeps none has none of these,
   * but for the {@link PoolOpened} that ends such a pool.
   */
  sealed interface PoolFact extends TierFact {}

  /**
   * The pool that extents of DRAM lie in from here on. Blocks that lay in another one were dropped
   * before ({@link BlocksEvicted}, {@link BlocksDemoted}).
   *
   * @param poolIdHigh with {@code poolIdLow} the UUID that the pool's file carries; both 0 for
   *     memory that dies with the daemon
   */
  record PoolOpened(long poolIdHigh, long poolIdLow) implements PoolFact {}

  /**
   * Sealed blocks of an earlier run, whose bytes should lie in the pool that was opened again. They
   * keep their extents, and nobody reads them before {@link BlocksAdopted}.
   */
  record BlocksKept(LongRanges blocks) implements PoolFact {}

  /** Every byte of kept blocks had its sum: they are sealed again. */
  record BlocksAdopted(LongRanges blocks, long bytes, long durationMicros) implements PoolFact {}

  /** The DRAM copies of kept blocks are gone; those with an SSD copy can still be found. */
  record BlocksNotAdopted(LongRanges blocks, AdoptionFailure reason, String detail)
      implements PoolFact {}

  // ---- other hosts
  // ------------------------------------------------------------------------------------------------

  /** What happens between this host and others; a host that works alone has none of these. */
  sealed interface PeerFact extends HostEvent {}

  /**
   * A peer may read blocks; until {@link GrantClosed} they are pinned. Told before the peer is.
   *
   * @param uuidHigh with {@code uuidLow} what the peer calls the grant
   * @param bytes allocated bytes of the blocks
   * @param expiresAtMicros until when reads may begin, microseconds since 1970
   */
  record GrantOpened(
      long grantId,
      long uuidHigh,
      long uuidLow,
      PeerId peer,
      LongRanges blocks,
      long bytes,
      long expiresAtMicros)
      implements PeerFact {}

  /**
   * Nobody reads under the grant any more, and nobody will: that was proven, or the daemon that
   * served it is dead.
   *
   * @param reason why it was revoked
   * @param reads how many reads it admitted
   */
  record GrantClosed(long grantId, GrantEnd reason, long reads) implements PeerFact {}

  /**
   * New blocks of one group, in the order of their keys.
   *
   * @param firstBlockId the others follow it without a gap
   * @param sliceBytes allocated bytes of each slice of a block
   */
  record GroupRead(int groupId, long firstBlockId, Keys keys, Longs sliceBytes) {}

  /**
   * Blocks that nobody here has are being read from another host. Until {@link RemoteReadEnded} the
   * read pins them.
   *
   * @param extentOffsets where each slice goes in the pool: those of the first block of the first
   *     group, then those of its second, and so on
   * @param ticketId the ticket that was the first to want them, 0 if none
   */
  record RemoteReadBegun(
      long readId,
      PeerId owner,
      int namespaceId,
      List<GroupRead> groups,
      Longs extentOffsets,
      Longs extentGenerations,
      long ticketId,
      long forSessionId,
      String forRequest)
      implements PeerFact {}

  /**
   * The read has failed, but bytes may still come: its blocks can be found no more, its extents
   * stay as they are until {@link RemoteReadEnded}.
   */
  record RemoteReadQuarantined(long readId, RemoteFailure reason, String detail)
      implements PeerFact {}

  /**
   * No byte of the read can come any more. Blocks that arrived are sealed, nothing is left of the
   * others.
   *
   * @param arrived in the read's order
   * @param checksums of each slice of each of them
   * @param failure why others did not arrive, {@link RemoteFailure#NONE} if all did
   * @param grantHigh with {@code grantLow} the grant that it was read under, 0 if none was given
   * @param bytes allocated bytes of what arrived
   */
  record RemoteReadEnded(
      long readId,
      LongRanges arrived,
      Longs checksums,
      RemoteFailure failure,
      String detail,
      long grantHigh,
      long grantLow,
      long bytes,
      long durationMicros)
      implements PeerFact {}

  /**
   * This host learnt where a catalog shard is placed.
   *
   * @param generation of the placement
   * @param members nodes, as the catalog orders them
   */
  record PlacementSeen(int catalogShard, long generation, List<String> members)
      implements Observation {}

  // ---- closed sets
  // -------------------------------------------------------------------------------------------------

  enum SessionRole {
    LOAD,
    SAVE,
    QUERY
  }

  enum SessionEnd {
    UNREGISTERED,
    DISCONNECTED,
    SUPERSEDED,
    PROTOCOL_VIOLATION,
    CLEANED,
    SHUTDOWN,
    RESTART
  }

  enum CleanupReason {
    REQUESTED,
    LAST_SESSION_CLOSED,
    SHUTDOWN,
    RESTART
  }

  enum AbortReason {
    COPY_FAILED,
    SESSION_CLOSED,
    CANCELLED,
    RESTART
  }

  enum EvictionCause {
    CAPACITY,
    ADMISSION,
    REQUESTED,
    VERIFY_FAILED,
    NEVER_SEALED,
    RESTART
  }

  enum LeaseEnd {
    RELEASED,
    EXPIRED,
    SESSION_CLOSED,
    RESTART
  }

  enum TicketEnd {
    READY,
    MISS,
    CANCELLED,
    REPLACED,
    EXPIRED,
    SESSION_CLOSED,
    RESTART
  }

  enum RestoreOutcome {
    DONE,
    VERIFY_FAILED,
    COPY_FAILED,
    CANCELLED,
    RESTART
  }

  enum Operation {
    REGISTER,
    QUERY,
    PUBLISH,
    RESTORE,
    RELEASE,
    POLL,
    CANCEL,
    PREPARE
  }

  enum RefusalCategory {
    USER,
    RESOURCE,
    STALE,
    UNAVAILABLE,
    INTERNAL
  }

  enum SsdEvictionCause {
    CAPACITY,
    REQUESTED,
    /** Another tier was opened, or none. */
    TIER_LOST
  }

  enum LoadFailure {
    IO_ERROR,
    SHORT,
    CHECKSUM,
    CANCELLED,
    RESTART
  }

  enum TierTrouble {
    WRITES_FAIL,
    DISK_FULL,
    HANGS
  }

  enum SsdSkip {
    /** The write queue was full until then. */
    QUEUE_FULL,
    /** The disk took no writes, or failed this one. */
    DISK_ILL,
    /** Only blocks that are used again are admitted, and nobody had used it. */
    NOT_REUSED,
    /** Others were used later, and the tier has no room for more. */
    TIER_FULL
  }

  enum AdoptionFailure {
    /** The pool does not hold the bytes that were published. */
    CHECKSUM,
    /** The memory could not be read. */
    FAULT
  }

  enum GrantEnd {
    /** The peer gave it back. */
    RELEASED,
    EXPIRED,
    /** The peer's run is gone, or another one has its place. */
    PEER_GONE,
    SHUTDOWN,
    RESTART
  }

  /** Why blocks of another host did not arrive. */
  enum RemoteFailure {
    /** All did. */
    NONE,
    /** The owner gave no grant, for want of something. */
    REFUSED,
    /** The owner has not what the evidence said. */
    STALE,
    DEADLINE,
    UNREACHABLE,
    PEER_LOST,
    /** The bytes did not have their sum. */
    CORRUPT,
    /** The owner did what no owner may do. */
    MISBEHAVED,
    /** This host had too much under way. */
    OVERLOADED,
    CANCELLED,
    RESTART
  }
}
