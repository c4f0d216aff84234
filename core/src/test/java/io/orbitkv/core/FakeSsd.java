package io.orbitkv.core;

import io.orbitkv.core.eviction.LruPolicy;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdReport;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.state.HostState;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Files in memory whose reads and writes end when the test says so, well or not. */
final class FakeSsd implements SsdStore {
  static final int HEADER_BYTES = 4096;

  final List<SsdTask> running = new ArrayList<>();
  final MemorySegment[] files;
  long tierId;
  final SsdReport report = new SsdReport();

  /** What the next slices end with, first come first served; 0 is well. */
  final ArrayDeque<Integer> results = new ArrayDeque<>();

  /** Tells every slice's result when {@link #results} is empty. */
  int otherwise;

  int limit = Integer.MAX_VALUE;
  long reads;
  long writes;
  private final ArrayDeque<SsdTask> ended = new ArrayDeque<>();
  private long progress;

  FakeSsd(long tierId, int fileCount, int extentsPerFile) {
    this.tierId = tierId;
    this.files = new MemorySegment[fileCount];
    for (int file = 0; file < fileCount; file++) {
      int bytes = HEADER_BYTES + extentsPerFile * SsdExtents.ALIGNMENT_BYTES;
      files[file] = MemorySegment.ofArray(new byte[bytes]);
    }
  }

  /** The tier as a loop gets it after a start with that state. */
  SsdTier tier(HostState recovered, SsdSettings settings) {
    long[] fileBytes = new long[files.length];
    for (int file = 0; file < files.length; file++) {
      fileBytes[file] = files[file].byteSize();
    }
    running.clear();
    ended.clear();
    return new SsdTier(
        settings,
        tierId,
        0,
        fileBytes,
        new SsdExtents(fileBytes, HEADER_BYTES, recovered.nextSsdGeneration()),
        new LruPolicy(),
        this,
        report);
  }

  @Override
  public boolean submit(SsdTask task) {
    if (running.size() >= limit) {
      return false;
    }
    return running.add(task);
  }

  @Override
  public int poll(Consumer<SsdTask> consumer, int most) {
    int polled = 0;
    for (SsdTask task; polled < most && (task = ended.poll()) != null; polled++) {
      consumer.accept(task);
    }
    return polled;
  }

  @Override
  public long progress() {
    return progress;
  }

  /** Ends one task; the loop hears of it in its next cycle. */
  void finish(int index, MemorySegment pool) {
    SsdTask task = running.remove(index);
    for (int block = 0; block < task.blocks(); block++) {
      for (int slice = 0; slice < task.slices(block); slice++) {
        int result =
            task.stopped() ? SsdTask.CANCELLED : results.isEmpty() ? otherwise : results.poll();
        move(task, task.slice(block, slice), result, pool);
        task.ended(block, slice, result, result == SsdTask.CHECKSUM ? 4711 : 0);
      }
    }
    progress += task.stopped() ? 0 : 1;
    ended.add(task);
  }

  /** A failed operation leaves something else behind. */
  private void move(SsdTask task, SsdTask.Slice slice, int result, MemorySegment pool) {
    MemorySegment inFile = files[slice.file()].asSlice(slice.fileOffset(), slice.bytes());
    MemorySegment inPool = pool.asSlice(slice.poolOffset(), slice.bytes());
    MemorySegment target = task.isRead() ? inPool : inFile;
    if (result == SsdTask.DONE) {
      target.copyFrom(task.isRead() ? inFile : inPool);
      reads += task.isRead() ? 1 : 0;
      writes += task.isRead() ? 0 : 1;
    } else {
      target.fill((byte) 0x5A);
    }
  }

  void finishAll(MemorySegment pool) {
    while (!running.isEmpty()) {
      finish(0, pool);
    }
  }
}
