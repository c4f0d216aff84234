package io.orbitkv.core;

import io.orbitkv.core.eviction.EvictionPolicy;
import io.orbitkv.core.eviction.SlotList;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdReport;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.TierTrouble;
import org.agrona.collections.Long2LongCounterMap;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * What this epoch knows of the SSD tier beside the fold: what is under way, what must stay in DRAM
 * for it, and what ails the disk.
 */
final class LiveTier {
  private static final long NONE = -1;

  /** A task of the store and when it was submitted, monotonic clock. */
  record Running(SsdTask task, long startedMicros) {}

  final SsdSettings settings;
  final long tierIdHigh;
  final long tierIdLow;
  final long[] fileBytes;
  final SsdExtents extents;
  final EvictionPolicy policy;
  final SsdStore store;
  final SsdReport report;

  final Long2ObjectHashMap<Running> running = new Long2ObjectHashMap<>();
  long nextTaskId = 1;

  /** Bytes that wait for the disk or are on their way to it, and from it. */
  long queuedBytes;

  long loadingBytes;

  /**
   * Blocks that are admitted and whose write has not begun, in order. They stand in the tier's
   * order of use.
   */
  final SlotList backlog = new SlotList();

  /** Blocks that could not be admitted, in order; they are offered again by {@link #retry}. */
  final SlotList aside = new SlotList();

  final TierRetry retry = new TierRetry();

  /** What keeps writes from being begun, null if nothing does. */
  @Nullable TierTrouble writeTrouble;

  /** With {@link #writeTrouble}: when a write may be tried again, monotonic clock. */
  long retryAtMicros;

  int writeFailuresInARow;
  boolean hanging;

  // Since the epoch began; for operators. Skipped blocks were to be written and left DRAM, or the
  // tier's order of use, before they were.
  long admittedBytes;
  long skippedBlocks;
  long refusedLoads;
  long writeErrors;
  long readErrors;

  private long backlogBytes;
  private final LongHashSet writing = new LongHashSet();
  private final Long2LongCounterMap held = new Long2LongCounterMap(0);

  /** Pool extents that the disk reads from, by offset, and the bytes of those freed meanwhile. */
  private final Long2LongHashMap readByDisk = new Long2LongHashMap(NONE);

  LiveTier(SsdTier tier) {
    this.settings = tier.settings();
    this.tierIdHigh = tier.tierIdHigh();
    this.tierIdLow = tier.tierIdLow();
    this.fileBytes = tier.fileBytes();
    this.extents = tier.extents();
    this.policy = tier.policy();
    this.store = tier.store();
    this.report = tier.report();
  }

  /** Whether the block must stay in DRAM for a write or for a query that waits. */
  boolean holds(long blockId) {
    return writing.contains(blockId) || held.get(blockId) != 0;
  }

  boolean isWriting(long blockId) {
    return writing.contains(blockId);
  }

  void hold(long blockId) {
    held.incrementAndGet(blockId);
  }

  void letGo(long blockId) {
    held.decrementAndGet(blockId);
  }

  int heldBlocks() {
    return held.size();
  }

  // ---- blocks that wait for their write

  /** Bytes on SSD that are set aside for the backlog. */
  long backlogBytes() {
    return backlogBytes;
  }

  /**
   * The block waits for its turn.
   *
   * @param bytes allocated bytes of its slices, the same until it leaves
   */
  void enterBacklog(int slot, long bytes) {
    backlog.addLast(slot);
    backlogBytes += bytes;
  }

  /** The block's turn had come too early: it waits on, before the others. */
  void returnToBacklog(int slot, long bytes) {
    backlog.addFirst(slot);
    backlogBytes += bytes;
  }

  /** The block waits no more, for whatever reason; false if it did not wait. */
  boolean leaveBacklog(int slot, long bytes) {
    boolean waited = backlog.remove(slot);
    backlogBytes -= waited ? bytes : 0;
    return waited;
  }

  /** Why a block in DRAM without a copy has none, null if it had one or is not to get one. */
  @Nullable SsdSkip whyUncopied(int slot) {
    if (backlog.contains(slot)) {
      return SsdSkip.QUEUE_FULL;
    }
    if (aside.contains(slot)) {
      return SsdSkip.DISK_ILL;
    }
    return settings.admission() == SsdAdmission.REUSE ? SsdSkip.NOT_REUSED : null;
  }

  /** The block leaves the host. */
  void forget(int slot, long bytes) {
    policy.removed(slot);
    if (leaveBacklog(slot, bytes) || aside.remove(slot)) {
      skippedBlocks++;
    }
  }

  // ---- blocks that are read by the disk

  void beginWrite(long blockId, SsdTask.Slice[] slices) {
    writing.add(blockId);
    for (SsdTask.Slice slice : slices) {
      readByDisk.put(slice.poolOffset(), 0);
      queuedBytes += slice.bytes();
    }
  }

  /** The disk reads from the extent: it is freed later; false if it may be freed now. */
  boolean freeLater(long poolOffset, int bytes) {
    if (readByDisk.get(poolOffset) == NONE) {
      return false;
    }
    readByDisk.put(poolOffset, bytes);
    return true;
  }

  /** The block's write has ended. */
  void endWrite(long blockId) {
    writing.remove(blockId);
  }

  /** Bytes of the extent to free now that the disk reads it no more, 0 if it is still in use. */
  long endRead(SsdTask.Slice slice) {
    queuedBytes -= slice.bytes();
    return readByDisk.remove(slice.poolOffset());
  }

  boolean idle() {
    return running.isEmpty();
  }
}
