package io.orbitkv.core;

import io.orbitkv.core.ssd.SsdExtents.Place;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Copies sealed blocks to SSD. A block takes its place there, in the order of use as well, when it
 * is admitted, so that what leaves the tier for it does not depend on how fast the disk is; the
 * fact that it can be found there follows the last byte. Nobody waits for a write: where the queue
 * is full or the disk is ill, the block is not admitted and stays in DRAM for as long as it may.
 */
final class TierWrites {
  private final Host host;
  private final LiveTier tier;
  private final TierHealth health;
  private final TicketBook tickets;

  TierWrites(Host host, LiveTier tier, TierHealth health, TicketBook tickets) {
    this.host = host;
    this.tier = tier;
    this.health = health;
    this.tickets = tickets;
  }

  /** Admits those of the blocks that are sealed, have no copy and get none right now. */
  void admit(IntArrayList slots, long forSessionId, String forRequest) {
    IntArrayList chosen = choose(slots);
    if (chosen.isEmpty()) {
      return;
    }
    List<SsdTask.Slice[]> columns = new ArrayList<>();
    LongArrayList ids = new LongArrayList();
    makeRoom(bytes(chosen) - tier.extents.freeBytes(), forSessionId, forRequest);
    for (int i = 0; i < chosen.size(); i++) {
      int slot = chosen.getInt(i);
      SsdTask.Slice[] slices = place(slot, forSessionId, forRequest);
      if (slices == null) {
        tier.skippedBlocks++;
        continue;
      }
      ids.addLong(host.state.blockId(slot));
      columns.add(slices);
      tier.policy.entered(slot, host.keyHash(slot));
    }
    if (!ids.isEmpty()) {
      submit(ids.toLongArray(), columns.toArray(new SsdTask.Slice[0][]));
    }
  }

  private IntArrayList choose(IntArrayList slots) {
    IntArrayList chosen = new IntArrayList();
    if (!health.mayWrite()) {
      tier.skippedBlocks += slots.size();
      return chosen;
    }
    IntHashSet seen = new IntHashSet();
    long bytes = tier.queuedBytes;
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      HostState state = host.state;
      if (!state.sealed(slot)
          || state.onSsd(slot)
          || tier.isWriting(state.blockId(slot))
          || !seen.add(slot)) {
        continue;
      }
      bytes += host.allocatedBytes(slot);
      if (bytes > tier.settings.writeQueueBytes()) {
        tier.skippedBlocks += slots.size() - i;
        break;
      }
      chosen.addInt(slot);
    }
    long columns = chosen.size() * 2L * Host.BLOCK_COLUMN_BYTES * slices(chosen);
    if (!chosen.isEmpty() && !host.hasRoom(4, columns)) {
      tier.skippedBlocks += chosen.size();
      chosen.clear();
    }
    return chosen;
  }

  private int slices(IntArrayList slots) {
    return slots.isEmpty() ? 0 : host.state.slices(slots.getInt(0));
  }

  private long bytes(IntArrayList slots) {
    long bytes = 0;
    for (int i = 0; i < slots.size(); i++) {
      bytes += host.allocatedBytes(slots.getInt(i));
    }
    return bytes;
  }

  private void submit(long[] ids, SsdTask.Slice[][] slices) {
    SsdTask task = new SsdTask(tier.nextTaskId++, false, ids, slices);
    for (int block = 0; block < ids.length; block++) {
      tier.beginWrite(ids[block], slices[block]);
    }
    host.blocksInCopy += task.sliceCount();
    tier.running.put(task.id(), new LiveTier.Running(task, host.clock.monotonicMicros()));
    if (!tier.store.submit(task)) {
      tier.skippedBlocks += ids.length;
      end(task);
      return;
    }
    health.watch();
  }

  // ---- room
  // --------------------------------------------------------------------------------------------------------

  /** Places for every slice of a block, null if there is no room. */
  private SsdTask.Slice @Nullable [] place(int slot, long forSessionId, String forRequest) {
    HostState state = host.state;
    SsdTask.Slice[] slices = new SsdTask.Slice[state.slices(slot)];
    for (int slice = 0; slice < slices.length; slice++) {
      int bytes = state.extentBytes(slot, slice);
      Place place = tier.extents.allocate(bytes);
      while (place == null && makeRoom(bytes, forSessionId, forRequest)) {
        place = tier.extents.allocate(bytes);
      }
      if (place == null) {
        for (int taken = 0; taken < slice; taken++) {
          free(slices[taken]);
        }
        return null;
      }
      slices[slice] =
          new SsdTask.Slice(
              place.file(),
              place.offset(),
              state.extentOffset(slot, slice),
              bytes,
              place.generation(),
              null);
    }
    return slices;
  }

  /** Drops the copies that were used least lately; false if that frees nothing. */
  private boolean makeRoom(long neededBytes, long forSessionId, String forRequest) {
    LongRanges.Builder ids = new LongRanges.Builder();
    LongArrayList gone = new LongArrayList();
    long freed = 0;
    while (freed < neededBytes) {
      int slot = tier.policy.takeVictim(this::mayGo);
      if (slot < 0) {
        break;
      }
      freed += copyBytes(slot);
      ids.add(host.state.blockId(slot));
      if (!host.state.sealed(slot)) {
        gone.addLong(host.state.blockId(slot));
      }
    }
    if (ids.size() > 0) {
      host.emit(new SsdEvicted(ids.build(), SsdEvictionCause.CAPACITY, forSessionId, forRequest));
      gone.forEachLong(tickets::settled);
    }
    return freed > 0;
  }

  private boolean mayGo(int slot) {
    return host.state.onSsd(slot)
        && switch (host.state.blockState(slot)) {
          case SEALED -> true;
          case DEMOTED -> !tier.holds(host.state.blockId(slot));
          case RESERVED, LOADING, EVICTED -> false;
        };
  }

  private long copyBytes(int slot) {
    long bytes = 0;
    for (int slice = 0; slice < host.state.slices(slot); slice++) {
      bytes += host.state.extentBytes(slot, slice);
    }
    return bytes;
  }

  // ---- the end of a write
  // ------------------------------------------------------------------------------------------

  /** A write has ended, well or not. */
  void ended(SsdTask task) {
    int failed = 0;
    int errno = 0;
    for (int block = 0; block < task.blocks(); block++) {
      int slice = task.firstFailure(block);
      if (slice >= 0) {
        failed++;
        errno = task.result(block, slice);
      }
    }
    end(task);
    health.wroteBlocks(task.blocks() - failed, failed, errno);
  }

  private void end(SsdTask task) {
    LongRanges.Builder ids = new LongRanges.Builder();
    long[] files = new long[task.sliceCount()];
    long[] offsets = new long[task.sliceCount()];
    long[] generations = new long[task.sliceCount()];
    int column = 0;
    for (int block = 0; block < task.blocks(); block++) {
      int slot = host.state.slotOf(task.blockId(block));
      boolean kept = slot >= 0 && host.state.sealed(slot);
      if (kept && task.firstFailure(block) < 0) {
        ids.add(task.blockId(block));
        for (int slice = 0; slice < task.slices(block); slice++, column++) {
          files[column] = task.slice(block, slice).file();
          offsets[column] = task.slice(block, slice).fileOffset();
          generations[column] = task.slice(block, slice).generation();
        }
      } else {
        for (int slice = 0; slice < task.slices(block); slice++) {
          free(task.slice(block, slice));
        }
        if (kept) {
          tier.policy.removed(slot);
        }
      }
      tier.endWrite(task.blockId(block));
    }
    if (ids.size() > 0) {
      host.emit(
          new SsdWritten(
              ids.build(),
              Longs.of(Arrays.copyOf(files, column)),
              Longs.of(Arrays.copyOf(offsets, column)),
              Longs.of(Arrays.copyOf(generations, column))));
    }
    giveBack(task);
    host.blocksInCopy -= task.sliceCount();
    tier.running.remove(task.id());
  }

  /** Frees the pool extents that blocks left while the disk read from them. */
  private void giveBack(SsdTask task) {
    for (int block = 0; block < task.blocks(); block++) {
      for (int slice = 0; slice < task.slices(block); slice++) {
        long bytes = tier.endRead(task.slice(block, slice));
        if (bytes > 0) {
          host.extents.free(task.slice(block, slice).poolOffset(), (int) bytes);
        }
      }
    }
  }

  private void free(SsdTask.Slice slice) {
    tier.extents.free(slice.file(), slice.fileOffset(), slice.bytes());
  }
}
