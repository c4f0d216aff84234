package io.orbitkv.core.copy;

import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaEvent;
import io.orbitkv.ffi.cuda.CudaException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one engine's staging ring and what goes through them.
 *
 * <pre>
 *   restore:  FREE -- copy pool to slot --> COPYING -- passed, post SCATTER --> POSTED -- done, compare --> FREE
 *   publish:  FREE -- post GATHER --> POSTED -- done, copy slot to pool --> COPYING -- passed, seal --> FREE
 * </pre>
 *
 * While one slot is scattered the next is filled, so the copy engine never waits for a kernel. A
 * job ends only when none of its slots is COPYING or POSTED; with the engine gone, POSTED counts as
 * over, since what its kernel touches was its own. A copy whose event fails is never known to be
 * over: its slot is LOST, the ring's memory stays open, and a publish that had begun to write into
 * the pool keeps its extents.
 *
 * <p>Everything is the mover's thread's but what says otherwise.
 */
public final class StagingRing {
  private enum SlotState {
    FREE,
    COPYING,
    POSTED,
    LOST
  }

  private static final class Slot {
    final int index;
    final boolean load;
    final CudaEvent event;
    SlotState state = SlotState.FREE;
    @Nullable StagedJob job;
    @Nullable Chunk chunk;
    long postedNanos;

    Slot(int index, boolean load, CudaEvent event) {
      this.index = index;
      this.load = load;
      this.event = event;
    }
  }

  /**
   * Where the slots are.
   *
   * @param address of slot 0 on the device
   * @param slotBytes of each
   * @param loadSlots the first so many are for restores
   * @param saveSlots the rest, for publishes
   */
  public record Geometry(long address, long slotBytes, int loadSlots, int saveSlots) {}

  private final SlotBoard board;
  private final Geometry geometry;
  private final LongSupplier nanoClock;
  private final long patienceNanos;
  private final List<Slot> slots = new ArrayList<>();
  private final ArrayDeque<StagedJob> loads = new ArrayDeque<>();
  private final ArrayDeque<StagedJob> saves = new ArrayDeque<>();
  private final List<StagedJob> jobs = new ArrayList<>();
  private volatile Predicate<String> violation = _ -> true;
  private volatile boolean gone;
  private volatile @Nullable String undrained;
  private boolean violated;

  /**
   * @param nanoClock monotonic
   * @param patienceNanos how long the engine may take for a slot
   * @throws CudaException if the device has no events left
   */
  public StagingRing(
      CudaDevice device,
      SlotBoard board,
      Geometry geometry,
      LongSupplier nanoClock,
      long patienceNanos)
      throws CudaException {
    this.board = board;
    this.geometry = geometry;
    this.nanoClock = nanoClock;
    this.patienceNanos = patienceNanos;
    for (int i = 0; i < geometry.loadSlots() + geometry.saveSlots(); i++) {
      slots.add(new Slot(i, i < geometry.loadSlots(), device.event()));
    }
  }

  public Geometry geometry() {
    return geometry;
  }

  /**
   * Says who is told that the engine does not keep to the protocol; until it answers that it took
   * that in. Any thread.
   */
  public void onViolation(Predicate<String> listener) {
    violation = listener;
  }

  /** What the engine has posted is over. Any thread. */
  void engineGone() {
    gone = true;
  }

  /** Which copy is not known to be over, null if none. Any thread. */
  @Nullable String undrained() {
    return undrained;
  }

  /** Frees the events. The caller knows that nothing is under way. */
  public void close() throws CudaException {
    for (Slot slot : slots) {
      slot.event.close();
    }
  }

  void add(StagedJob job) {
    jobs.add(job);
    (job instanceof StagedLoad ? loads : saves).addLast(job);
  }

  boolean idle() {
    return jobs.isEmpty();
  }

  int busySlots() {
    int busy = 0;
    for (Slot slot : slots) {
      busy += slot.state == SlotState.FREE ? 0 : 1;
    }
    return busy;
  }

  /**
   * Does what can be done without waiting.
   *
   * @param ended takes tasks that are over
   * @return how much was done
   */
  int advance(GpuLanes lanes, Consumer<CopyTask> ended) {
    int work = 0;
    for (Slot slot : slots) {
      StagedJob job = slot.job;
      Chunk chunk = slot.chunk;
      if (job != null && chunk != null) {
        work += advance(slot, job, chunk, lanes);
      }
    }
    for (Slot slot : slots) {
      if (slot.state == SlotState.FREE) {
        work += slot.load ? beginLoad(slot, lanes) : beginSave(slot, lanes);
      }
    }
    return work + endJobs(ended);
  }

  private int advance(Slot slot, StagedJob job, Chunk chunk, GpuLanes lanes) {
    return switch (slot.state) {
      case FREE, LOST -> 0;
      case COPYING -> copying(slot, job, chunk, lanes);
      case POSTED -> posted(slot, job, chunk, lanes);
    };
  }

  // ---- copies
  // ------------------------------------------------------------------------------------------------------

  private int copying(Slot slot, StagedJob job, Chunk chunk, GpuLanes lanes) {
    try {
      if (!slot.event.passed()) {
        return 0;
      }
    } catch (CudaException failed) {
      lose(slot, job, failed, lanes);
      return 1;
    }
    if (!slot.load) {
      job.chunkDone(chunk, board, slot.index);
      lanes.saved(chunk);
      free(slot, job);
    } else if (job.task().stopped() || gone) {
      failGone(job);
      free(slot, job);
    } else {
      post(slot, job, chunk);
    }
    return 1;
  }

  private int beginLoad(Slot slot, GpuLanes lanes) {
    StagedJob job = head(loads);
    Chunk chunk = job == null ? null : job.next();
    if (job == null || chunk == null) {
      return 0;
    }
    take(slot, job, chunk, SlotState.COPYING);
    if (endBroken(slot, job, lanes)) {
      return 1;
    }
    try {
      lanes.toSlot(chunk, slotAddress(slot), slot.event);
    } catch (CudaException failed) {
      lose(slot, job, failed, lanes);
    }
    return 1;
  }

  // ---- the engine's part
  // -------------------------------------------------------------------------------------------

  private int beginSave(Slot slot, GpuLanes lanes) {
    StagedJob job = head(saves);
    Chunk chunk = job == null ? null : job.next();
    if (job == null || chunk == null) {
      return 0;
    }
    take(slot, job, chunk, SlotState.POSTED);
    if (!endBroken(slot, job, lanes)) {
      post(slot, job, chunk);
    }
    return 1;
  }

  /** After a failed copy none begins any more. */
  private static boolean endBroken(Slot slot, StagedJob job, GpuLanes lanes) {
    if (lanes.broken()) {
      job.task().fail("the GPU failed before: " + lanes.problem());
      free(slot, job);
    }
    return lanes.broken();
  }

  private void post(Slot slot, StagedJob job, Chunk chunk) {
    int[] pages = job.pages(chunk);
    for (int i = 0; i < chunk.entryCount(); i++) {
      board.entry(slot.index, i, pages[chunk.from() + i], chunk.slotOffsets()[i]);
    }
    slot.state = SlotState.POSTED;
    slot.postedNanos = nanoClock.getAsLong();
    board.post(slot.index, job.work(chunk));
  }

  private int posted(Slot slot, StagedJob job, Chunk chunk, GpuLanes lanes) {
    switch (board.poll(slot.index)) {
      case POSTED -> {
        if (gone) {
          failGone(job);
          free(slot, job);
          return 1;
        }
        if (nanoClock.getAsLong() - slot.postedNanos > patienceNanos) {
          violate(
              "slot %d was not served within %d ms"
                  .formatted(slot.index, patienceNanos / 1_000_000));
        }
        return 0;
      }
      case FAILED -> {
        job.task().fail("the engine's kernel failed: " + board.failure(slot.index));
        free(slot, job);
      }
      case BROKEN -> {
        violate(board.failure(slot.index));
        if (!gone) {
          return 0;
        }
        failGone(job);
        free(slot, job);
      }
      case DONE -> served(slot, job, chunk, lanes);
    }
    return 1;
  }

  private void served(Slot slot, StagedJob job, Chunk chunk, GpuLanes lanes) {
    if (slot.load) {
      job.chunkDone(chunk, board, slot.index);
      lanes.loaded(chunk);
      free(slot, job);
    } else if (job.task().stopped()) {
      free(slot, job);
    } else if (!endBroken(slot, job, lanes)) {
      slot.state = SlotState.COPYING;
      try {
        lanes.toPool(chunk, slotAddress(slot), slot.event);
      } catch (CudaException failed) {
        lose(slot, job, failed, lanes);
      }
    }
  }

  private void failGone(StagedJob job) {
    if (gone) {
      job.task().fail("the engine is gone");
    }
  }

  private void violate(String why) {
    if (!violated) {
      violated = violation.test(why);
    }
  }

  // ---- slots and jobs
  // ----------------------------------------------------------------------------------------------

  private static @Nullable StagedJob head(ArrayDeque<StagedJob> queue) {
    while (!queue.isEmpty() && !queue.getFirst().hasNext()) {
      queue.removeFirst();
    }
    return queue.peekFirst();
  }

  private static void take(Slot slot, StagedJob job, Chunk chunk, SlotState state) {
    slot.job = job;
    slot.chunk = chunk;
    slot.state = state;
  }

  private static void free(Slot slot, StagedJob job) {
    slot.state = SlotState.FREE;
    slot.job = null;
    slot.chunk = null;
    job.chunkEnded();
  }

  /** A copy failed, so nobody knows whether it still runs. */
  private void lose(Slot slot, StagedJob job, CudaException failed, GpuLanes lanes) {
    String what =
        "%s %d, slot %d: %s"
            .formatted(
                slot.load ? "restore" : "publish",
                job.task().operationId(),
                slot.index,
                failed.getMessage());
    undrained = what;
    lanes.fail(what);
    job.task().fail(String.valueOf(failed.getMessage()));
    slot.state = SlotState.LOST;
    if (slot.load) {
      // It only read the pool; the slot is the engine's.
      slot.job = null;
      slot.chunk = null;
      job.chunkEnded();
    }
  }

  private int endJobs(Consumer<CopyTask> ended) {
    int count = 0;
    for (int i = 0; i < jobs.size(); i++) {
      StagedJob job = jobs.get(i);
      if (job.over()) {
        jobs.remove(i--);
        loads.remove(job);
        saves.remove(job);
        ended.accept(job.task());
        count++;
      }
    }
    return count;
  }

  private long slotAddress(Slot slot) {
    return geometry.address() + slot.index * geometry.slotBytes();
  }
}
