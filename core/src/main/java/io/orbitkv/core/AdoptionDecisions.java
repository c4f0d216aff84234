package io.orbitkv.core;

import io.orbitkv.core.copy.VerifyCopy;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PlacesInOrder;
import io.orbitkv.core.ssd.SliceShape;
import io.orbitkv.state.BoundLayers;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.BlocksAdopted;
import io.orbitkv.state.HostEvent.BlocksNotAdopted;
import io.orbitkv.state.HostEvent.VerifyFailed;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongArrayList;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the blocks over that an earlier run left in the pool. They keep their extents and their
 * places in the order of use from the start, but nobody reads them before a copy worker has found
 * every sum to be right.
 *
 * <p>One look of some megabytes is under way at a time, behind all restores, so that service does
 * not wait for it. What was used last is looked at first, and what a waiting query asks for before
 * anything else. A block that leaves DRAM meanwhile is forgotten here: its look comes to nothing.
 */
final class AdoptionDecisions {
  private static final Logger LOG = LoggerFactory.getLogger(AdoptionDecisions.class);

  private static final long BYTES_PER_LOOK = 8 << 20;
  private static final int BLOCKS_PER_LOOK = 1_024;
  private static final long RETRY_MILLIS = 100;

  private final Host host;
  private final TicketBook tickets;
  private final @Nullable TierDecisions tier;
  private final AdoptionRetry retry = new AdoptionRetry();
  private final AdoptionReport report = new AdoptionReport();
  private final Map<BoundLayers, SliceShape> shapes = new HashMap<>();

  /** Block ids, the one that was used last at the end. */
  private long[] waiting = {};

  private int waitingCount;

  /** Block ids that queries wait for; those before {@link #nextWanted} are done. */
  private final LongArrayList wanted = new LongArrayList();

  private int nextWanted;
  private final LongHashSet inLook = new LongHashSet();
  private @Nullable VerifyCopy running;
  private long lookStartedMicros;
  private long startedMicros;
  private long nextLookId = 1;
  private long adopted;
  private long damaged;

  AdoptionDecisions(Host host, TicketBook tickets, @Nullable TierDecisions tier) {
    this.host = host;
    this.tickets = tickets;
    this.tier = tier;
  }

  AdoptionReport report() {
    return report;
  }

  // ---- the start
  // ---------------------------------------------------------------------------------------------------

  /** Takes what the journal says lies in the pool into this epoch's books, and begins to look. */
  void recover() {
    HostState state = host.state;
    if (state.unverifiedBlocks() == 0) {
      return;
    }
    int[] slots = SlotsByUse.of(state, state::unverified);
    waiting = new long[slots.length];
    waitingCount = slots.length;
    int extents = 0;
    for (int i = 0; i < slots.length; i++) {
      waiting[i] = state.blockId(slots[i]);
      host.policy.entered(slots[i], host.keyHash(slots[i]));
      extents += state.slices(slots[i]);
    }
    occupy(slots, extents);
    startedMicros = host.clock.monotonicMicros();
    report.begin(slots.length);
    go();
  }

  private void occupy(int[] slots, int extents) {
    HostState state = host.state;
    PlacesInOrder places = new PlacesInOrder(extents, ExtentAllocator.GRANULE_BYTES);
    for (int slot : slots) {
      for (int slice = 0; slice < state.slices(slot); slice++) {
        places.add(state.extentOffset(slot, slice), state.extentBytes(slot, slice));
      }
    }
    places.occupy(host.extents);
  }

  /** A query waits for these blocks: they come next. */
  void wanted(LongArrayList blockIds) {
    if (!blockIds.isEmpty()) {
      wanted.addAll(blockIds);
      go();
    }
  }

  // ---- looking
  // -----------------------------------------------------------------------------------------------------

  /** Begins the next look unless one is under way, or nothing is left to look at. */
  void go() {
    if (running != null || host.draining) {
      return;
    }
    if (waitingCount == 0 && wanted.isEmpty()) {
      done();
      return;
    }
    boolean mayLook =
        host.copies.inFlight() < host.config.maxCopiesInFlight()
            && host.hasRoom(BLOCKS_PER_LOOK + 3, (long) BLOCKS_PER_LOOK * Host.BLOCK_COLUMN_BYTES);
    if (!mayLook) {
      if (retry.heapIndex < 0) {
        host.timers.arm(retry, host.deadline(RETRY_MILLIS));
      }
      return;
    }
    VerifyCopy look = next();
    if (look == null) {
      done();
      return;
    }
    running = look;
    lookStartedMicros = host.clock.monotonicMicros();
    host.blocksInLook = look.blocks();
    if (!host.copies.submit(look)) {
      throw new IllegalStateException(
          "the executor refused a look with " + host.copies.inFlight() + " copies in flight");
    }
  }

  private @Nullable VerifyCopy next() {
    LongArrayList ids = new LongArrayList();
    List<VerifyCopy.Slice[]> slices = new ArrayList<>();
    long bytes = 0;
    inLook.clear();
    while (ids.size() < BLOCKS_PER_LOOK && bytes < BYTES_PER_LOOK) {
      long id = nextId();
      if (id == 0) {
        break;
      }
      int slot = host.state.slotOf(id);
      if (slot < 0 || !host.state.unverified(slot) || !inLook.add(id)) {
        continue;
      }
      ids.addLong(id);
      slices.add(slices(slot));
      bytes += host.allocatedBytes(slot);
    }
    return ids.isEmpty()
        ? null
        : new VerifyCopy(
            nextLookId++, host.pool, ids.toLongArray(), slices.toArray(new VerifyCopy.Slice[0][]));
  }

  /** 0 when none is left. */
  private long nextId() {
    if (nextWanted < wanted.size()) {
      return wanted.getLong(nextWanted++);
    }
    wanted.clear();
    nextWanted = 0;
    return waitingCount == 0 ? 0 : waiting[--waitingCount];
  }

  private VerifyCopy.Slice[] slices(int slot) {
    HostState state = host.state;
    VerifyCopy.Slice[] slices = new VerifyCopy.Slice[state.slices(slot)];
    for (int slice = 0; slice < slices.length; slice++) {
      slices[slice] =
          new VerifyCopy.Slice(
              state.extentOffset(slot, slice),
              state.extentBytes(slot, slice),
              state.checksum(slot, slice),
              shape(slot, slice));
    }
    return slices;
  }

  private SliceShape shape(int slot, int slice) {
    HostState state = host.state;
    BoundLayers layers = state.layers(state.namespaceId(slot), state.groupId(slot), slice);
    if (layers == null) {
      throw new IllegalStateException(
          "block %d was kept and nobody said how its slice %d is cut in layers"
              .formatted(state.blockId(slot), slice));
    }
    return shapes.computeIfAbsent(layers, bound -> SliceShape.of(bound.layerBytes()));
  }

  // ---- what was found
  // ----------------------------------------------------------------------------------------------

  /** A look has ended. */
  void ended(VerifyCopy look) {
    running = null;
    host.blocksInLook = 0;
    LongRanges.Builder whole = new LongRanges.Builder();
    Map<AdoptionFailure, LongRanges.Builder> failed = new EnumMap<>(AdoptionFailure.class);
    long bytes = 0;
    for (int block = 0; block < look.blocks(); block++) {
      int slot = host.state.slotOf(look.blockId(block));
      if (slot < 0 || !host.state.unverified(slot)) {
        continue;
      }
      AdoptionFailure failure = failure(look, block);
      if (failure == null) {
        whole.add(look.blockId(block));
        bytes += look.bytes(block);
      } else {
        failed.computeIfAbsent(failure, _ -> new LongRanges.Builder()).add(look.blockId(block));
      }
    }
    LongRanges adoptable = whole.build();
    if (!adoptable.isEmpty()) {
      long micros = host.clock.monotonicMicros() - lookStartedMicros;
      host.emit(new BlocksAdopted(adoptable, bytes, micros));
      adopted += adoptable.size();
      adoptable.forEach(tickets::settled);
      offerToSsd(adoptable);
    }
    String detail = look.failure() == null ? "" : look.failure();
    failed.forEach((reason, ids) -> reject(ids.build(), reason, detail));
    report.progress(host.state.unverifiedBlocks(), adopted, damaged);
    go();
  }

  /** What is wrong with a block that was looked at, null if nothing is. */
  private @Nullable AdoptionFailure failure(VerifyCopy look, int block) {
    if (!look.looked(block)) {
      return AdoptionFailure.FAULT;
    }
    int slice = look.firstDamaged(block);
    if (slice < 0) {
      return null;
    }
    host.emit(
        new VerifyFailed(
            look.blockId(block), slice, 0, look.expected(block, slice), look.actual(block, slice)));
    return AdoptionFailure.CHECKSUM;
  }

  /** The run before may have ended before it had written them. */
  private void offerToSsd(LongRanges ids) {
    if (tier != null) {
      IntArrayList slots = new IntArrayList();
      ids.forEach(id -> slots.addInt(host.state.slotOf(id)));
      tier.sealed(slots, 0, "");
    }
  }

  private void reject(LongRanges ids, AdoptionFailure reason, String detail) {
    ids.forEach(
        id -> {
          int slot = host.state.slotOf(id);
          if (host.state.onSsd(slot)) {
            host.policy.removed(slot);
          } else {
            host.leaves(slot);
          }
        });
    host.emit(new BlocksNotAdopted(ids, reason, detail));
    damaged += ids.size();
    ids.forEach(tickets::settled);
    LOG.warn(
        "pool: {} blocks of an earlier run are not adopted: {}",
        ids.size(),
        detail.isEmpty() ? "they do not have their sums" : detail);
  }

  /** Nothing is left to look at. */
  private void done() {
    if (waiting.length == 0) {
      return;
    }
    waiting = new long[0];
    report.progress(host.state.unverifiedBlocks(), adopted, damaged);
    LOG.info(
        "pool: adopted {} of {} blocks of an earlier run in {} ms; {} were damaged",
        adopted,
        report.keptBlocks(),
        (host.clock.monotonicMicros() - startedMicros) / 1_000,
        damaged);
  }
}
