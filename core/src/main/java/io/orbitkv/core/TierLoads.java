package io.orbitkv.core;

import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.ssd.SliceShape;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.BlockState;
import io.orbitkv.state.BoundLayers;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.VerifyFailed;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Brings blocks that are on SSD only back into DRAM. Their memory is set aside and the read is a
 * fact before it begins; while it runs it pins them, so that it goes on to its end whatever becomes
 * of whoever asked, and others who want the same blocks wait for the same read. Bytes that do not
 * have their sum are a miss, reported, and their copy is dropped.
 */
final class TierLoads {
  private final Host host;
  private final LiveTier tier;
  private final TierHealth health;
  private final EvictionDecisions evictions;
  private final TicketBook tickets;

  TierLoads(
      Host host,
      LiveTier tier,
      TierHealth health,
      EvictionDecisions evictions,
      TicketBook tickets) {
    this.host = host;
    this.tier = tier;
    this.health = health;
    this.evictions = evictions;
    this.tickets = tickets;
  }

  /** Whether so many bytes may be read back now, if there is memory for them. */
  boolean mayLoad(long bytes) {
    boolean may = health.mayRead() && isWithinBound(bytes);
    tier.refusedLoads += may ? 0 : 1;
    return may;
  }

  /** A load that is larger than the bound by itself runs alone. */
  boolean isWithinBound(long bytes) {
    return tier.loadingBytes == 0 || bytes <= tier.settings.maxLoadingBytes() - tier.loadingBytes;
  }

  /** Does not begin what has not begun of a read, unless somebody else waits for it. */
  void stop(SsdTask task) {
    for (int block = 0; block < task.blocks(); block++) {
      if (tickets.isAwaited(task.blockId(block))) {
        return;
      }
    }
    task.stop();
  }

  /** Allocated bytes of blocks that are on SSD only. */
  long bytes(IntArrayList slots) {
    long bytes = 0;
    for (int i = 0; i < slots.size(); i++) {
      for (int slice = 0; slice < host.state.slices(slots.getInt(i)); slice++) {
        bytes += host.state.extentBytes(slots.getInt(i), slice);
      }
    }
    return bytes;
  }

  // ---- memory
  // ------------------------------------------------------------------------------------------------------

  /**
   * Sets memory aside for blocks that are on SSD only; others leave DRAM for them.
   *
   * @return an extent for each slice, null if there is not enough; nothing is set aside then
   */
  Extent @Nullable [] reserve(IntArrayList slots, long forSessionId, String forRequest) {
    long missing = bytes(slots) - host.extents.freeBytes();
    if (missing > 0 && !evictions.makeRoom(missing, forSessionId, forRequest)) {
      tier.refusedLoads++;
      return null;
    }
    int count = 0;
    for (int i = 0; i < slots.size(); i++) {
      count += host.state.slices(slots.getInt(i));
    }
    Extent[] extents = new Extent[count];
    int at = 0;
    for (int i = 0; i < slots.size(); i++) {
      for (int slice = 0; slice < host.state.slices(slots.getInt(i)); slice++) {
        int bytes = host.state.extentBytes(slots.getInt(i), slice);
        Extent extent = host.extents.allocate(bytes);
        while (extent == null && evictions.makeRoom(bytes, forSessionId, forRequest)) {
          extent = host.extents.allocate(bytes);
        }
        if (extent == null) {
          for (int taken = 0; taken < at; taken++) {
            host.extents.free(extents[taken].offset(), extents[taken].bytes());
          }
          tier.refusedLoads++;
          return null;
        }
        extents[at++] = extent;
      }
    }
    return extents;
  }

  // ---- the read
  // ----------------------------------------------------------------------------------------------------

  /**
   * Begins to read blocks back.
   *
   * @param extents what {@link #reserve} gave
   * @param ticketId who wants them first, 0 if nobody waits
   * @return the read, which goes on until it has ended
   */
  SsdTask begin(
      IntArrayList slots, Extent[] extents, long ticketId, long forSessionId, String forRequest) {
    HostState state = host.state;
    LongRanges.Builder ids = new LongRanges.Builder();
    long[] blockIds = new long[slots.size()];
    SsdTask.Slice[][] slices = new SsdTask.Slice[slots.size()][];
    long[] offsets = new long[extents.length];
    long[] generations = new long[extents.length];
    Map<BoundLayers, SliceShape> shapes = new HashMap<>();
    int at = 0;
    for (int i = 0; i < blockIds.length; i++) {
      int slot = slots.getInt(i);
      blockIds[i] = state.blockId(slot);
      ids.add(blockIds[i]);
      slices[i] = new SsdTask.Slice[state.slices(slot)];
      for (int slice = 0; slice < slices[i].length; slice++, at++) {
        offsets[at] = extents[at].offset();
        generations[at] = extents[at].generation();
        slices[i][slice] = slice(slot, slice, extents[at], shapes);
      }
    }
    host.emit(
        new BlocksLoading(
            ids.build(),
            Longs.of(offsets),
            Longs.of(generations),
            ticketId,
            forSessionId,
            forRequest));
    SsdTask task = new SsdTask(tier.nextTaskId++, true, blockIds, slices);
    tier.loadingBytes += task.bytes();
    host.blocksInCopy += task.sliceCount();
    tier.running.put(task.id(), new LiveTier.Running(task, host.clock.monotonicMicros()));
    if (tier.store.submit(task)) {
      health.watch();
    } else {
      ended(task);
    }
    return task;
  }

  private SsdTask.Slice slice(
      int slot, int slice, Extent extent, Map<BoundLayers, SliceShape> shapes) {
    HostState state = host.state;
    BoundLayers layers = state.layers(state.namespaceId(slot), state.groupId(slot), slice);
    if (layers == null) {
      throw new IllegalStateException(
          "block %d lies on SSD and nobody said how its slice %d is cut in layers"
              .formatted(state.blockId(slot), slice));
    }
    SliceShape shape =
        shapes.computeIfAbsent(
            layers,
            bound -> {
              long[] bytes = new long[bound.layerBytes().size()];
              for (int layer = 0; layer < bytes.length; layer++) {
                bytes[layer] = bound.layerBytes().get(layer);
              }
              return new SliceShape(bytes);
            });
    return new SsdTask.Slice(
        state.ssdFile(slot, slice),
        state.ssdOffset(slot, slice),
        extent.offset(),
        extent.bytes(),
        state.ssdGeneration(slot, slice),
        new SsdTask.Proof(state.checksum(slot, slice), shape));
  }

  /** A read has ended, well or not. */
  void ended(SsdTask task) {
    LiveTier.Running running = tier.running.remove(task.id());
    tier.loadingBytes -= task.bytes();
    host.blocksInCopy -= task.sliceCount();
    LongRanges.Builder back = new LongRanges.Builder();
    IntArrayList slots = new IntArrayList();
    Map<LoadFailure, LongRanges.Builder> failed = new EnumMap<>(LoadFailure.class);
    Map<LoadFailure, String> details = new EnumMap<>(LoadFailure.class);
    long bytes = 0;
    for (int block = 0; block < task.blocks(); block++) {
      int slot = host.state.slotOf(task.blockId(block));
      int slice = task.firstFailure(block);
      if (slice < 0) {
        back.add(task.blockId(block));
        slots.addInt(slot);
        for (int each = 0; each < task.slices(block); each++) {
          bytes += task.slice(block, each).bytes();
        }
        continue;
      }
      int result = task.result(block, slice);
      LoadFailure reason = reason(result);
      noteFailure(task, block, slice, reason);
      if (reason != LoadFailure.CANCELLED) {
        tier.policy.removed(slot);
      }
      failed.computeIfAbsent(reason, _ -> new LongRanges.Builder()).add(task.blockId(block));
      details.putIfAbsent(reason, TierHealth.describe(result));
    }
    if (back.size() > 0) {
      long micros = running == null ? 0 : host.clock.monotonicMicros() - running.startedMicros();
      host.emit(new BlocksLoaded(back.build(), bytes, micros));
      enter(slots);
    }
    failed.forEach(
        (reason, ids) ->
            host.emit(new LoadFailed(ids.build(), reason, details.getOrDefault(reason, ""))));
    for (int block = 0; block < task.blocks(); block++) {
      tickets.settled(task.blockId(block));
    }
  }

  /** The blocks take their places among those that may leave DRAM again. */
  private void enter(IntArrayList slots) {
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      if (host.state.blockId(slot) != 0 && host.state.blockState(slot) == BlockState.SEALED) {
        host.policy.entered(slot, host.keyHash(slot));
      }
    }
  }

  private void noteFailure(SsdTask task, int block, int slice, LoadFailure reason) {
    if (reason == LoadFailure.CHECKSUM) {
      SsdTask.Proof proof = task.slice(block, slice).proof();
      host.emit(
          new VerifyFailed(
              task.blockId(block),
              slice,
              0,
              proof == null ? 0 : proof.checksum(),
              task.sum(block, slice)));
    }
    if (reason == LoadFailure.IO_ERROR || reason == LoadFailure.SHORT) {
      tier.readErrors++; // another sum is counted with the sums
    }
  }

  private static LoadFailure reason(int result) {
    return switch (result) {
      case SsdTask.SHORT -> LoadFailure.SHORT;
      case SsdTask.CHECKSUM -> LoadFailure.CHECKSUM;
      case SsdTask.CANCELLED -> LoadFailure.CANCELLED;
      default -> LoadFailure.IO_ERROR;
    };
  }
}
