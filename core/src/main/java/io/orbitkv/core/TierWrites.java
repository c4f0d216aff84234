package io.orbitkv.core;

import io.orbitkv.core.ssd.SsdExtents.Place;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Writes the blocks of the backlog to SSD, in order. A block is pinned in DRAM from the beginning
 * of its write to its end, and the bytes so pinned are bounded; the fact that it can be found on
 * SSD follows the last byte. Nobody waits for a write.
 */
final class TierWrites {
  /** The write queue is filled by this share of it at a time, so that writes stay long. */
  private static final int QUEUE_PARTS = 4;

  private final Host host;
  private final LiveTier tier;
  private final TierHealth health;
  private final TierRoom room;

  TierWrites(Host host, LiveTier tier, TierHealth health, TierRoom room) {
    this.host = host;
    this.tier = tier;
    this.health = health;
    this.room = room;
  }

  /** Begins as many writes as the queue has room for. */
  void begin(long forSessionId, String forRequest) {
    while (hasRoom() && beginOne(forSessionId, forRequest)) {}
  }

  private boolean hasRoom() {
    if (tier.backlog.isEmpty() || host.draining || !health.mayTryWrite()) {
      return false;
    }
    if (tier.queuedBytes == 0) {
      return true;
    }
    long roomBytes = tier.settings.writeQueueBytes() - tier.queuedBytes;
    return tier.writeTrouble == null && roomBytes >= Math.min(tier.backlogBytes(), partBytes());
  }

  private long partBytes() {
    return tier.settings.writeQueueBytes() / QUEUE_PARTS;
  }

  private boolean beginOne(long forSessionId, String forRequest) {
    IntArrayList slots = next();
    if (slots.isEmpty()) {
      return false;
    }
    long columns = slots.size() * 2L * Host.BLOCK_COLUMN_BYTES * host.state.slices(slots.getInt(0));
    if (!host.hasRoom(4, columns)) {
      health.tryLater();
      return false;
    }
    List<SsdTask.Slice[]> slices = new ArrayList<>();
    LongArrayList ids = new LongArrayList();
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      if (!tier.leaveBacklog(slot, host.allocatedBytes(slot))) {
        continue; // It made room for one before it.
      }
      SsdTask.Slice[] placed = place(slot, forSessionId, forRequest);
      if (placed == null) {
        setAside(slot);
      } else {
        ids.addLong(host.state.blockId(slot));
        slices.add(placed);
      }
    }
    return ids.isEmpty() || submit(ids.toLongArray(), slices.toArray(new SsdTask.Slice[0][]));
  }

  /** The blocks of the next write: at least one if the queue is empty. */
  private IntArrayList next() {
    IntArrayList slots = new IntArrayList();
    long roomBytes = tier.settings.writeQueueBytes() - tier.queuedBytes;
    long bytes = 0;
    for (int slot = tier.backlog.first(); slot >= 0; slot = tier.backlog.next(slot)) {
      bytes += host.allocatedBytes(slot);
      boolean fits = bytes <= roomBytes && (slots.isEmpty() || bytes <= partBytes());
      if (!fits && (tier.queuedBytes > 0 || !slots.isEmpty())) {
        break;
      }
      slots.addInt(slot);
      if (tier.writeTrouble != null) {
        break;
      }
    }
    return slots;
  }

  /** The block lost its place; it is offered again later. */
  private void setAside(int slot) {
    tier.policy.removed(slot);
    tier.aside.addLast(slot);
    health.tryLater();
  }

  private boolean submit(long[] ids, SsdTask.Slice[][] slices) {
    SsdTask task = new SsdTask(tier.nextTaskId++, false, ids, slices);
    if (!tier.store.submit(task)) {
      takeBack(task);
      return false;
    }
    for (int block = 0; block < ids.length; block++) {
      tier.beginWrite(ids[block], slices[block]);
    }
    tier.admittedBytes += task.bytes();
    host.blocksInCopy += task.sliceCount();
    tier.running.put(task.id(), new LiveTier.Running(task, host.clock.monotonicMicros()));
    health.watch();
    return true;
  }

  /** The store has as many tasks as it can take: the blocks wait on, before the others. */
  private void takeBack(SsdTask task) {
    for (int block = task.blocks() - 1; block >= 0; block--) {
      int slot = host.state.slotOf(task.blockId(block));
      for (int slice = 0; slice < task.slices(block); slice++) {
        free(task.slice(block, slice));
      }
      tier.returnToBacklog(slot, host.allocatedBytes(slot));
    }
  }

  /** Places for every slice of a block, null if there is no room. */
  private SsdTask.Slice @Nullable [] place(int slot, long forSessionId, String forRequest) {
    HostState state = host.state;
    SsdTask.Slice[] slices = new SsdTask.Slice[state.slices(slot)];
    for (int slice = 0; slice < slices.length; slice++) {
      int bytes = state.extentBytes(slot, slice);
      Place place = tier.extents.allocate(bytes);
      while (place == null && room.chooseOne()) {
        room.drop(forSessionId, forRequest);
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
          setAside(slot);
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
