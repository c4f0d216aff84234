package io.orbitkv.state;

import io.orbitkv.state.HostEvent.EpochEnded;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.Totals.Counter;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is true on a host: the fold of its journal.
 *
 * <p>{@link #apply} is the only way to change it, and the same for the live daemon, for recovery
 * and for {@code orbitkv replay}: no clock, no randomness, no I/O, and nothing that depends on the
 * order in which a hash table happens to lie. One thread owns an instance.
 *
 * <p>Blocks are asked for by <em>slot</em>, a small number that is good until the block's memory
 * returned; every accessor of a slot is a few array reads and allocates nothing.
 */
public final class HostState {
  /** The most shards of a namespace on one host. */
  public static final int MAX_SHARDS = 64;

  final Totals totals = new Totals();
  final BlockTable blocks = new BlockTable();
  final Registry registry = new Registry(blocks, totals);
  final Publishes publishes = new Publishes(registry, blocks, totals);
  final Reads reads = new Reads(registry, blocks, totals);
  final Tiers tiers = new Tiers(registry, blocks, publishes, totals);
  final Remotes remotes = new Remotes(registry, blocks, publishes, totals);

  long position;
  long atMicros;
  long epoch;
  boolean running;
  long poolBytes;
  private boolean broken;

  // ---- the fold --------------------------------------------------------------------------------

  /**
   * Applies the next fact.
   *
   * @throws BrokenInvariant when the fact contradicts the state; the state must then be discarded
   * @throws IllegalStateException when an earlier fact did
   */
  public void apply(Fact fact, Effects effects) {
    if (broken) {
      throw new IllegalStateException(
          "the state broke at journal position " + position + " or the next, and is discarded");
    }
    broken = true;
    if (fact.position() != position + 1) {
      throw HostInvariants.broken(
          fact.position(), "a fact is missing: the one before was at position %d", position);
    }
    if (!running && !(fact.event() instanceof EpochStarted)) {
      throw HostInvariants.broken(
          fact.position(),
          "%s outside of a daemon run; EpochStarted comes first",
          fact.event().getClass().getSimpleName());
    }
    change(fact, effects);
    position = fact.position();
    atMicros = fact.atMicros();
    broken = false;
  }

  private void change(Fact fact, Effects effects) {
    long at = fact.position();
    switch (fact.event()) {
      // Cases are tried in order: the frequent ones first.
      case HostEvent.LeaseGranted event -> reads.grant(fact, event);
      case HostEvent.LeaseReleased event -> reads.release(at, event, effects);
      case HostEvent.RestoreStarted event -> reads.startRestore(fact, event);
      case HostEvent.RestoreFinished event -> reads.finishRestore(at, event, effects);
      case HostEvent.SlicesReserved event -> publishes.reserve(fact, event, poolBytes);
      case HostEvent.SlicesPublished event -> publishes.publish(at, event, effects);
      case HostEvent.BlocksEvicted event -> publishes.evict(at, event, effects);
      case HostEvent.QueryMissed event -> reads.miss(event);
      case HostEvent.TicketOpened event -> reads.openTicket(fact, event);
      case HostEvent.TicketClosed event -> reads.closeTicket(at, event);
      case HostEvent.PublishAborted event -> publishes.abort(at, event, effects);
      case HostEvent.RequestRefused event -> totals.refusals.add(event.category(), 1);
      case HostEvent.DigestRecorded _ -> {}
      case HostEvent.VerifyFailed _ -> totals.add(Counter.VERIFY_FAILURES, 1);
      case HostEvent.SessionOpened event -> registry.open(fact, event);
      case HostEvent.SessionClosed event -> registry.close(at, event);
      case HostEvent.InstanceRegistered event -> registry.register(fact, event);
      case HostEvent.InstanceCleaned event -> registry.clean(at, event);
      case HostEvent.NamespaceBound event -> registry.bind(at, event);
      case HostEvent.NamespaceUnbound event -> tiers.forget(registry.unbind(at, event));
      case HostEvent.RegistrationRefused _ -> totals.add(Counter.REGISTRATIONS_REFUSED, 1);
      case HostEvent.EpochStarted event -> start(at, event);
      case HostEvent.EpochEnded event -> end(at, event);
      case HostEvent.TierFact event -> tiers.apply(fact, event, poolBytes, effects);
      case HostEvent.PeerFact event -> remotes.apply(fact, event, poolBytes, effects);
      case HostEvent.PlacementSeen _ -> {}
    }
  }

  private void start(long at, EpochStarted event) {
    HostInvariants.require(
        event.epoch() > epoch, at, "epoch %d follows epoch %d", event.epoch(), epoch);
    HostInvariants.require(event.poolBytes() >= 0, at, "the pool has %d bytes", event.poolBytes());
    epoch = event.epoch();
    poolBytes = event.poolBytes();
    running = true;
    totals.add(Counter.EPOCHS, 1);
  }

  private void end(long at, EpochEnded event) {
    HostInvariants.require(
        event.epoch() == epoch, at, "epoch %d ends in epoch %d", event.epoch(), epoch);
    HostInvariants.require(
        registry.sessions.size() == 0,
        at,
        "epoch %d ends with %d open sessions; SessionClosed comes first",
        epoch,
        registry.sessions.size());
    running = false;
  }

  // ---- the whole -------------------------------------------------------------------------------

  /** The position of the last applied fact, 0 before the first. */
  public long position() {
    return position;
  }

  /** When the last applied fact was appended, microseconds since 1970. */
  public long atMicros() {
    return atMicros;
  }

  /** The epoch of the last daemon run that began, 0 before the first. */
  public long epoch() {
    return epoch;
  }

  /** Whether that run has not ended in order. */
  public boolean running() {
    return running;
  }

  /** Bytes of that run's pool. */
  public long poolBytes() {
    return poolBytes;
  }

  /**
   * 64 bits that are equal for states that the same facts made, in whatever way: live, replayed, or
   * through a checkpoint. Kept up to date by {@link #apply}; reading it costs a hundred
   * multiplications, and a walk over all blocks the first time after {@link #deferDigest}.
   */
  public long digest() {
    return digest(
        blocks.digest()
            + blocks.ssd.digest()
            + tiers.digest()
            + remotes.digest()
            + registry.digest()
            + publishes.digest()
            + reads.digest());
  }

  /**
   * Lets {@link #apply} do without the digest until somebody reads it, for folds that compare it at
   * most at their end: keeping it takes a third of their time. It changes no result.
   */
  public void deferDigest() {
    blocks.deferDigest();
    publishes.deferDigest();
    reads.deferDigest();
  }

  /** What {@link #digest} must be, computed from everything there is. */
  long digestFromScratch() {
    return digest(
        blocks.digestFromScratch()
            + blocks.ssd.digestFromScratch()
            + tiers.digest()
            + remotes.digestFromScratch()
            + registry.digestFromScratch()
            + publishes.digestFromScratch()
            + reads.digestFromScratch());
  }

  private long digest(long entities) {
    long hash = Mix.chain(Mix.chain(entities, position), atMicros);
    hash = Mix.chain(Mix.chain(Mix.chain(hash, epoch), running ? 1 : 0), poolBytes);
    hash = Mix.chain(Mix.chain(hash, registry.nextNamespaceId), registry.nextInstanceId);
    hash = Mix.chain(Mix.chain(hash, registry.nextSessionId), publishes.nextPublishId);
    hash = Mix.chain(Mix.chain(hash, publishes.nextBlockId), publishes.nextExtentGeneration);
    hash = Mix.chain(Mix.chain(hash, reads.nextLeaseId), reads.nextTicketId);
    return Mix.mix(Mix.chain(Mix.chain(hash, reads.nextRestoreId), totals.digestPart()));
  }

  /** Counters over the journal's whole life. The object is live. */
  public Totals totals() {
    return totals;
  }

  /** Heap that blocks and their indexes take, counted from the lengths of the arrays. */
  public long heapBytes() {
    return blocks.heapBytes();
  }

  /**
   * Writes a checkpoint; the format is drawn on {@link HostSnapshot}.
   *
   * @throws IllegalStateException when a fact broke the state
   */
  public void writeTo(DataOutput out) throws IOException {
    if (broken) {
      throw new IllegalStateException("a broken state is no checkpoint");
    }
    HostSnapshot.write(this, out);
  }

  /**
   * Reads a checkpoint.
   *
   * @throws DamagedSnapshot when it is cut, damaged or of another version
   */
  public static HostState readFrom(DataInput in) throws IOException {
    return HostSnapshot.read(in);
  }

  // ---- next ids: what the fold expects at least ------------------------------------------------

  public int nextNamespaceId() {
    return registry.nextNamespaceId;
  }

  public long nextInstanceId() {
    return registry.nextInstanceId;
  }

  public long nextSessionId() {
    return registry.nextSessionId;
  }

  public long nextPublishId() {
    return publishes.nextPublishId;
  }

  public long nextBlockId() {
    return publishes.nextBlockId;
  }

  public long nextLeaseId() {
    return reads.nextLeaseId;
  }

  public long nextTicketId() {
    return reads.nextTicketId;
  }

  public long nextRestoreId() {
    return reads.nextRestoreId;
  }

  /** One more than the highest generation that any extent ever had. */
  public long nextExtentGeneration() {
    return publishes.nextExtentGeneration;
  }

  // ---- who is there ----------------------------------------------------------------------------

  public @Nullable BoundNamespace namespace(int namespaceId) {
    return registry.namespaces.get(namespaceId);
  }

  public @Nullable BoundNamespace namespace(String name) {
    return registry.namespace(name);
  }

  /** All by ascending id, as every list below. */
  public List<BoundNamespace> namespaces() {
    return registry.namespaces.inOrder();
  }

  public @Nullable KnownInstance instance(long instanceId) {
    return registry.instances.get(instanceId);
  }

  public @Nullable KnownInstance instance(String name) {
    return registry.instance(name);
  }

  public List<KnownInstance> instances() {
    return registry.instances.inOrder();
  }

  public @Nullable OpenSession session(long sessionId) {
    return registry.sessions.get(sessionId);
  }

  public List<OpenSession> sessions() {
    return registry.sessions.inOrder();
  }

  // ---- what is open ----------------------------------------------------------------------------

  public @Nullable OpenLease lease(long leaseId) {
    return reads.leases.get(leaseId);
  }

  public List<OpenLease> leases() {
    return reads.leases.inOrder();
  }

  public int openLeases() {
    return reads.leases.size();
  }

  public @Nullable OpenTicket ticket(long ticketId) {
    return reads.tickets.get(ticketId);
  }

  public List<OpenTicket> tickets() {
    return reads.tickets.inOrder();
  }

  public int openTickets() {
    return reads.tickets.size();
  }

  public @Nullable OpenPublish publish(long publishId) {
    return publishes.open.get(publishId);
  }

  public List<OpenPublish> publishes() {
    return publishes.open.inOrder();
  }

  public int openPublishes() {
    return publishes.open.size();
  }

  public @Nullable OpenRestore restore(long restoreId) {
    return reads.restores.get(restoreId);
  }

  public List<OpenRestore> restores() {
    return reads.restores.inOrder();
  }

  public int openRestores() {
    return reads.restores.size();
  }

  // ---- other hosts -----------------------------------------------------------------------------

  /** Whether there was any fact of work with other hosts. */
  public boolean peersUsed() {
    return remotes.used;
  }

  public long nextGrantId() {
    return remotes.nextGrantId;
  }

  public long nextRemoteReadId() {
    return remotes.nextReadId;
  }

  public @Nullable OpenGrant grant(long grantId) {
    return remotes.grants.get(grantId);
  }

  /** Grants that are live or draining. */
  public List<OpenGrant> grants() {
    return remotes.grants.inOrder();
  }

  public int openGrants() {
    return remotes.grants.size();
  }

  public @Nullable OpenRemoteRead remoteRead(long readId) {
    return remotes.reads.get(readId);
  }

  /** Reads from other hosts that are under way or in quarantine. */
  public List<OpenRemoteRead> remoteReads() {
    return remotes.reads.inOrder();
  }

  public int openRemoteReads() {
    return remotes.reads.size();
  }

  // ---- blocks ----------------------------------------------------------------------------------

  /** Blocks that can be found: reserved, sealed, on SSD only, or kept and not verified yet. */
  public long liveBlocks() {
    return reservedBlocks() + sealedBlocks() + ssdOnlyBlocks() + unverifiedBlocks();
  }

  /** Blocks of an earlier run whose bytes nobody has looked at yet. */
  public long unverifiedBlocks() {
    return blocks.blocks(BlockChunk.UNVERIFIED);
  }

  public long reservedBlocks() {
    return blocks.blocks(BlockChunk.RESERVED);
  }

  public long sealedBlocks() {
    return blocks.blocks(BlockChunk.SEALED);
  }

  /** Blocks that are on SSD only, those that are being read back among them. */
  public long ssdOnlyBlocks() {
    return blocks.blocks(BlockChunk.DEMOTED) + loadingBlocks();
  }

  /** Blocks that are being read back from SSD and can be found. */
  public long loadingBlocks() {
    return blocks.blocks(BlockChunk.LOADING);
  }

  /** Evicted blocks whose memory is still pinned. */
  public long evictedBlocks() {
    return blocks.blocks(BlockChunk.EVICTED);
  }

  /** Extents of all blocks. */
  public long extents() {
    return blocks.extents();
  }

  /** Allocated bytes of all extents. */
  public long extentBytes() {
    return blocks.extentBytes();
  }

  /**
   * The slot of the block with a key that can be found, or -1.
   *
   * @param packed an array that holds the key's {@code length} bytes from {@code offset}
   */
  public int findSlot(int namespaceId, int groupId, byte[] packed, int offset, int length) {
    GroupRow group = registry.group(namespaceId, groupId);
    return group == null ? -1 : blocks.find(group, packed, offset, length);
  }

  /**
   * The leading run of sealed blocks among the keys from index {@code from}, at most as many as
   * {@code slotsOut} holds. Faster than asking for one key after the other.
   *
   * @return the length of the run; its slots are in {@code slotsOut} from 0
   */
  public int findPrefix(int namespaceId, int groupId, Keys keys, int from, int[] slotsOut) {
    GroupRow group = registry.group(namespaceId, groupId);
    return group == null ? 0 : blocks.findPrefix(group, keys, from, slotsOut);
  }

  /**
   * The slot of the block that can be found of each key from index {@code from}, or -1, into {@code
   * slotsOut} from 0. Faster than asking for one key after the other.
   */
  public void findSlots(
      int namespaceId, int groupId, Keys keys, int from, int count, int[] slotsOut) {
    GroupRow group = registry.group(namespaceId, groupId);
    if (group == null) {
      Arrays.fill(slotsOut, 0, count, -1);
    } else {
      blocks.findAll(group, keys, from, count, slotsOut);
    }
  }

  /** The slot of a reserved, sealed or evicted and still pinned block, or -1. */
  public int slotOf(long blockId) {
    return blocks.slotOf(blockId);
  }

  /** The same; fast when the block lies behind the one in slot {@code neighbour}, or pass -1. */
  public int slotOf(long blockId, int neighbour) {
    return blocks.slotOf(blockId, neighbour);
  }

  /** Every slot is below it; it only grows. For arrays that run beside the slots. */
  public int slotLimit() {
    return blocks.slotLimit();
  }

  /** The ids of all blocks that can be found, ascending. Walks all blocks. */
  public LongRanges liveBlockIds() {
    LongRanges.Builder ids = new LongRanges.Builder();
    for (int slot : blocks.slotsInOrder()) {
      if (blocks.state(slot) != BlockChunk.EVICTED) {
        ids.add(blocks.blockId(slot));
      }
    }
    return ids.build();
  }

  /**
   * Visits the slots of all blocks by ascending block id. Walks all blocks; nothing may change
   * meanwhile.
   */
  public void forEachBlock(SlotVisitor visitor) {
    for (int slot : blocks.slotsInOrder()) {
      visitor.visit(slot);
    }
  }

  /**
   * The slots of all blocks by ascending block id, for whoever walks them several times. A slot of
   * a block that is gone by then has the {@link #blockId} 0, as long as no block is made.
   */
  public int[] slotsInOrder() {
    return blocks.slotsInOrder();
  }

  /** Receives one slot. */
  @FunctionalInterface
  public interface SlotVisitor {
    void visit(int slot);
  }

  public BlockState blockState(int slot) {
    return switch (blocks.state(slot)) {
      case BlockChunk.RESERVED -> BlockState.RESERVED;
      case BlockChunk.SEALED -> BlockState.SEALED;
      case BlockChunk.EVICTED -> BlockState.EVICTED;
      case BlockChunk.DEMOTED -> BlockState.DEMOTED;
      case BlockChunk.LOADING -> BlockState.LOADING;
      case BlockChunk.UNVERIFIED -> BlockState.UNVERIFIED;
      default -> throw new IllegalArgumentException("slot " + slot + " is free");
    };
  }

  public boolean sealed(int slot) {
    return blocks.state(slot) == BlockChunk.SEALED;
  }

  /**
   * Whether the block is sealed and somebody vouches for it, wherever it lies: in DRAM, on SSD, or
   * on the way back.
   */
  public boolean stored(int slot) {
    byte state = blocks.state(slot);
    return state == BlockChunk.SEALED
        || state == BlockChunk.DEMOTED
        || state == BlockChunk.LOADING
        || (state == BlockChunk.UNVERIFIED && blocks.ssd.has(slot));
  }

  /** Whether the block was kept from an earlier run and has not been verified yet. */
  public boolean unverified(int slot) {
    return blocks.state(slot) == BlockChunk.UNVERIFIED;
  }

  /**
   * The position of the fact that used the block last: its last lease, if the order of use is kept
   * ({@link #poolIdHigh}), or the fact that made it.
   */
  public long usedAtPosition(int slot) {
    return Math.max(blocks.reservedAt(slot), blocks.leasedAt(slot));
  }

  public long blockId(int slot) {
    return blocks.blockId(slot);
  }

  /** Open leases, restores and publishes of the block. */
  public int pins(int slot) {
    return blocks.pins(slot);
  }

  public int namespaceId(int slot) {
    return blocks.group(slot).namespaceId;
  }

  public int groupId(int slot) {
    return blocks.group(slot).groupId;
  }

  /** The position of the fact that made the block. */
  public long reservedAtPosition(int slot) {
    return blocks.reservedAt(slot);
  }

  public int keyBytes(int slot) {
    return blocks.keyBytes(slot);
  }

  /** Copies the key's {@link #keyBytes} bytes. */
  public void copyKey(int slot, byte[] target, int offset) {
    blocks.copyKey(slot, target, offset);
  }

  /** Slices that the block stores: one for each shard, or one if its group is replicated. */
  public int slices(int slot) {
    return blocks.slices(slot);
  }

  // The shard of the accessors below is 0 <= shard < shardCount; every shard of a replicated group
  // has the same slice.

  /** Whether an extent is set aside for the slice. */
  public boolean reserved(int slot, int shard) {
    return blocks.sliceState(slot, slice(slot, shard)) != BlockChunk.SLICE_EMPTY;
  }

  /** Whether the slice's bytes are in place. */
  public boolean present(int slot, int shard) {
    return blocks.sliceState(slot, slice(slot, shard)) == BlockChunk.SLICE_PUBLISHED;
  }

  /** Byte offset in the pool. */
  public long extentOffset(int slot, int shard) {
    return blocks.offset(slot, slice(slot, shard));
  }

  public long extentGeneration(int slot, int shard) {
    return blocks.generation(slot, slice(slot, shard));
  }

  /** Allocated bytes. */
  public int extentBytes(int slot, int shard) {
    return blocks.extentBytes(slot, slice(slot, shard));
  }

  public long checksum(int slot, int shard) {
    return blocks.checksum(slot, slice(slot, shard));
  }

  private int slice(int slot, int shard) {
    return blocks.group(slot).slice(shard);
  }

  // ---- a pool that outlives the daemon ---------------------------------------------------------

  /**
   * The upper half of the UUID of the pool that DRAM extents lie in; 0 if it dies with the daemon.
   */
  public long poolIdHigh() {
    return tiers.pool.idHigh;
  }

  public long poolIdLow() {
    return tiers.pool.idLow;
  }

  // ---- SSD tier --------------------------------------------------------------------------------

  /** Whether there was any fact of an SSD tier. */
  public boolean tierUsed() {
    return tiers.used;
  }

  /** The upper half of the tier's UUID, 0 before there was one. */
  public long tierIdHigh() {
    return tiers.tierIdHigh;
  }

  public long tierIdLow() {
    return tiers.tierIdLow;
  }

  /** How many bytes of each file of the tier may hold extents. */
  public Longs tierFileBytes() {
    return tiers.fileBytes;
  }

  /** One more than the highest generation that any SSD extent ever had. */
  public long nextSsdGeneration() {
    return tiers.nextGeneration;
  }

  /** Extents of all SSD copies. */
  public long ssdExtents() {
    return blocks.ssd.extents();
  }

  /** Allocated bytes of all SSD copies. */
  public long ssdBytes() {
    return blocks.ssd.bytes();
  }

  /** Whether the block has an SSD copy; the three accessors below need one. */
  public boolean onSsd(int slot) {
    return blocks.ssd.has(slot);
  }

  /** Visits every extent on SSD, in no order. Walks all blocks. */
  public void forEachSsdExtent(SsdExtentVisitor visitor) {
    blocks.ssd.forEach(visitor);
  }

  /** Receives an extent on SSD. */
  @FunctionalInterface
  public interface SsdExtentVisitor {
    /**
     * An extent.
     *
     * @param file the tier's file that it lies in
     * @param offset byte offset in that file
     * @param bytes allocated bytes
     */
    void visit(int file, long offset, int bytes);
  }

  /** Whether the block is being read from SSD, whatever became of it since. */
  public boolean beingRead(int slot) {
    return blocks.sliceState(slot, 0) == BlockChunk.SLICE_LOADING;
  }

  /** The tier's file that holds the slice of a shard. */
  public int ssdFile(int slot, int shard) {
    return blocks.ssd.file(slot, slice(slot, shard));
  }

  /** Byte offset in that file. */
  public long ssdOffset(int slot, int shard) {
    return blocks.ssd.offset(slot, slice(slot, shard));
  }

  public long ssdGeneration(int slot, int shard) {
    return blocks.ssd.generation(slot, slice(slot, shard));
  }

  /** How the slice of a shard is cut in layers; null where no tier needed to know. */
  public @Nullable BoundLayers layers(int namespaceId, int groupId, int slice) {
    return tiers.layers.get(Tiers.key(namespaceId, groupId, slice));
  }
}
