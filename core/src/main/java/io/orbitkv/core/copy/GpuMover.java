package io.orbitkv.core.copy;

import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The thread that moves blocks between the pool and one GPU's staging rings. It polls while
 * something is under way, without rest where there are processors enough and else with some ten
 * microseconds between looks, and sleeps when nothing is: an engine's answer or the end of a copy
 * are found by looking, because two processes ordered by the GPU's own events take turns at half
 * the speed.
 *
 * <p>Copies are submitted by one thread, see {@link StagedCopies}.
 */
public final class GpuMover implements AutoCloseable {
  private static final long SPIN_NANOS = 50_000;
  private static final long REST_NANOS = 5_000;
  private static final boolean MANY_PROCESSORS = Runtime.getRuntime().availableProcessors() >= 8;
  private static final long SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * What one GPU has done.
   *
   * @param loadedBytes of engines, restored
   * @param savedBytes of engines, published
   * @param copies pieces that the copy engines took
   * @param rings engines whose staging ring is in use now
   * @param problem why nothing is copied any more, null if all is well
   */
  public record Report(
      long loadedBytes,
      long savedBytes,
      long loadChunks,
      long saveChunks,
      long copies,
      int rings,
      int busySlots,
      @Nullable String problem) {}

  private record Submitted(StagingRing ring, CopyTask task) {}

  private final CudaDevice device;
  private final int granuleBytes;
  private final GpuLanes lanes;
  private final ManyToOneConcurrentArrayQueue<Submitted> submitted;
  private final Consumer<CopyTask> ended;
  private final List<StagingRing> rings = new ArrayList<>();
  private final Thread thread;
  private volatile boolean closed;
  private volatile int activeRings;
  private volatile int busySlots;

  /**
   * Starts the thread.
   *
   * @param pool pinned for this device
   * @param granuleBytes what offsets and sizes of the pool's extents are multiples of
   * @param maxInFlight tasks submitted and not ended
   * @param ended takes tasks that have ended, on the mover's thread
   */
  public GpuMover(
      CudaDevice device,
      MemorySegment pool,
      int granuleBytes,
      int maxInFlight,
      Consumer<CopyTask> ended)
      throws CudaException {
    this.device = device;
    this.granuleBytes = granuleBytes;
    this.lanes = new GpuLanes(device, pool);
    this.submitted = new ManyToOneConcurrentArrayQueue<>(Math.max(2, maxInFlight));
    this.ended = ended;
    this.thread =
        Thread.ofPlatform().daemon().name("orbitkv-gpu-" + device.gpu().ordinal()).start(this::run);
  }

  public CudaDevice device() {
    return device;
  }

  /** What was done so far. Any thread. */
  public Report report() {
    return new Report(
        lanes.loadedBytes(),
        lanes.savedBytes(),
        lanes.loadChunks(),
        lanes.saveChunks(),
        lanes.copies(),
        activeRings,
        busySlots,
        lanes.problem());
  }

  void submit(StagingRing ring, CopyTask task) {
    if (!submitted.offer(new Submitted(ring, task))) {
      throw new IllegalStateException("more copies in flight than the mover has places for");
    }
    LockSupport.unpark(thread);
  }

  private void run() {
    long idleSince = System.nanoTime();
    while (!closed) {
      if (cycle() > 0) {
        idleSince = System.nanoTime();
      } else if (rings.isEmpty()) {
        if (submitted.isEmpty()) {
          LockSupport.parkNanos(this, SLEEP_NANOS);
        }
      } else if (MANY_PROCESSORS || System.nanoTime() - idleSince < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, REST_NANOS);
      }
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  private int cycle() {
    int work = 0;
    for (Submitted next; (next = submitted.poll()) != null; work++) {
      next.ring().add(job(next.ring(), next.task()));
      if (!rings.contains(next.ring())) {
        rings.add(next.ring());
      }
    }
    int busy = 0;
    for (int i = 0; i < rings.size(); i++) {
      StagingRing ring = rings.get(i);
      work += ring.advance(lanes, ended);
      busy += ring.busySlots();
      if (ring.idle()) {
        rings.remove(i--);
      }
    }
    if (work > 0) {
      activeRings = rings.size();
      busySlots = busy;
    }
    return work;
  }

  private StagedJob job(StagingRing ring, CopyTask task) {
    long limit = ring.geometry().slotBytes();
    return switch (task) {
      case RestoreCopy restore -> new StagedLoad(restore, limit, granuleBytes);
      case PublishCopy publish -> new StagedSave(publish, limit, granuleBytes);
      case VerifyCopy _ -> throw new IllegalStateException("a look at the pool has no pages");
    };
  }

  /**
   * Stops the thread and frees the streams; the caller knows that no copy is under way.
   *
   * @throws IllegalStateException if the thread does not end within 5 s: what it uses must stay
   * @throws CudaException if the streams cannot be freed
   */
  @Override
  public void close() throws CudaException {
    closed = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    try {
      thread.join(5_000);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new IllegalStateException("the mover of a GPU did not stop within 5 s");
    }
    lanes.close();
  }
}
