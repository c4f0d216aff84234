package io.orbitkv.manager.gpu;

import io.orbitkv.client.control.Register.Staging;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.copy.GpuMover;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.SlotBoard;
import io.orbitkv.core.copy.StagedBuffers;
import io.orbitkv.core.copy.StagingRing;
import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaDriver;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaGpu;
import io.orbitkv.ffi.cuda.IpcMemory;
import io.orbitkv.ffi.cuda.MpsStatus;
import io.orbitkv.manager.endpoint.StagedMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens GPUs when the first engine on each registers, so that a daemon without such engines takes
 * nothing of them: a primary context, the pool pinned (once, for all of them), a mover. What takes
 * its time, opening and closing, is done one after the other on a thread that goes when it has
 * nothing to do.
 */
public final class Gpus implements StagedMemory, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gpus.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long CLOSE_SECONDS = 5;

  /** Far more than connections and sessions, of which each has one task here at a time. */
  private static final int MAX_WAITING = 1 << 16;

  /** A GPU with a context of ours. */
  private record Open(CudaDevice device, IpcMemory memory, GpuMover mover, MpsStatus mps) {}

  /**
   * An open GPU, for people.
   *
   * @param openHandles staging rings of engines that are open
   * @param mps whether its processes run side by side, as it was when it was opened
   */
  public record View(CudaGpu gpu, GpuMover.Report report, int openHandles, MpsStatus mps) {}

  private final Supplier<Cuda.Found> find;
  private final MemorySegment pool;
  private final int granuleBytes;
  private final int maxInFlight;
  private final Consumer<CopyTask> ended;
  private final long patienceNanos;
  private final Map<String, Open> open = new TreeMap<>();
  private final List<String> kept = new CopyOnWriteArrayList<>();
  private final ThreadPoolExecutor beside;
  private @Nullable CudaDevice pinnedBy;
  private boolean said;

  /**
   * Opens nothing yet.
   *
   * @param find gives the driver
   * @param granuleBytes what offsets and sizes of the pool's extents are multiples of
   * @param maxInFlight copies of all engines
   * @param ended takes copies that have ended, on movers' threads
   */
  public Gpus(
      Supplier<Cuda.Found> find,
      MemorySegment pool,
      int granuleBytes,
      int maxInFlight,
      Consumer<CopyTask> ended) {
    this(find, pool, granuleBytes, maxInFlight, ended, PATIENCE);
  }

  Gpus(
      Supplier<Cuda.Found> find,
      MemorySegment pool,
      int granuleBytes,
      int maxInFlight,
      Consumer<CopyTask> ended,
      Duration patience) {
    this.find = find;
    this.pool = pool;
    this.granuleBytes = granuleBytes;
    this.maxInFlight = maxInFlight;
    this.ended = ended;
    this.patienceNanos = patience.toNanos();
    this.beside =
        new ThreadPoolExecutor(
            0,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> Thread.ofPlatform().daemon().name("orbitkv-gpu-open").unstarted(task));
  }

  // ---- registrations ---------------------------------------------------------------------------

  /** At most one task for each connection and each session's end waits. */
  @Override
  public void execute(Runnable task) {
    beside.execute(task);
  }

  @Override
  public Decoded<StagedBuffers> open(
      Staging staging, Map<Integer, GroupLayout> layouts, SlotBoard board, Runnable release) {
    return switch (find.get()) {
      case Cuda.Found.Absent(String reason, String remedy) -> {
        sayOnce(() -> LOG.warn("no GPU: {}; {}", reason, remedy));
        yield Decoded.bad(
            RefusalCode.BUFFER_KIND, "buffers[0].kind", "no GPU: " + reason + "; " + remedy);
      }
      case Cuda.Found.Present(CudaDriver driver) -> {
        sayOnce(
            () ->
                driver
                    .gpus()
                    .forEach(
                        gpu ->
                            LOG.info(
                                "GPU {}: {} {}, CUDA {}",
                                gpu.ordinal(),
                                gpu.name(),
                                gpu.uuid(),
                                driver.version())));
        yield open(driver, staging, layouts, board, release);
      }
    };
  }

  private synchronized void sayOnce(Runnable words) {
    if (!said) {
      said = true;
      words.run();
    }
  }

  private Decoded<StagedBuffers> open(
      CudaDriver driver,
      Staging staging,
      Map<Integer, GroupLayout> layouts,
      SlotBoard board,
      Runnable release) {
    CudaGpu gpu = null;
    for (CudaGpu each : driver.gpus()) {
      gpu = each.uuid().equalsIgnoreCase(staging.deviceUuid()) ? each : gpu;
    }
    if (gpu == null) {
      return Decoded.bad(
          RefusalCode.BAD_VALUE,
          "staging.deviceUuid",
          "none of " + driver.gpus().stream().map(CudaGpu::uuid).toList());
    }
    Open device;
    try {
      device = device(driver, gpu);
    } catch (CudaException refused) {
      LOG.warn("GPU {} cannot be opened: {}", gpu.uuid(), refused.getMessage());
      return Decoded.bad(
          RefusalCode.BUFFER_KIND,
          "buffers[0].kind",
          "GPU %s cannot be opened: %s".formatted(gpu.uuid(), refused.getMessage()));
    }
    return ring(device, staging, layouts, board, release);
  }

  private synchronized Open device(CudaDriver driver, CudaGpu gpu) throws CudaException {
    Open known = open.get(gpu.uuid());
    if (known != null) {
      return known;
    }
    long start = System.nanoTime();
    CudaDevice device = driver.open(gpu.ordinal());
    boolean pinned = false;
    try {
      if (pinnedBy == null) {
        device.pin(pool);
        pinnedBy = device;
        pinned = true;
      }
      GpuMover mover = new GpuMover(device, pool, granuleBytes, maxInFlight, ended);
      Open opened = new Open(device, new IpcMemory(device), mover, MpsStatus.read());
      open.put(gpu.uuid(), opened);
      LOG.info(
          "GPU {} opened and the pool pinned in {} ms, MPS {}",
          gpu.uuid(),
          (System.nanoTime() - start) / 1_000_000,
          opened.mps());
      return opened;
    } catch (CudaException failed) {
      if (!pinned) {
        device.close();
      }
      throw failed;
    }
  }

  private Decoded<StagedBuffers> ring(
      Open device,
      Staging staging,
      Map<Integer, GroupLayout> layouts,
      SlotBoard board,
      Runnable release) {
    IpcMemory.Opened memory;
    try {
      memory = device.memory().open(HexFormat.of().parseHex(staging.handle()));
    } catch (CudaException refused) {
      return Decoded.bad(
          RefusalCode.BAD_BUFFER,
          "staging.handle",
          "cannot be opened here: %s; it must come from cuMemAlloc, not from virtual memory"
                  .formatted(refused.getMessage())
              + " management, and from a process of the same PID and IPC namespace");
    }
    boolean taken = false;
    try {
      long size = device.device().size(memory.address());
      long needed = (long) staging.slotBytes() * staging.slots();
      if (staging.offset() > size - needed) {
        return Decoded.bad(
            RefusalCode.BAD_BUFFER,
            "staging.handle",
            "the allocation has %d bytes, the slots end at %d"
                .formatted(size, staging.offset() + needed));
      }
      StagingRing ring =
          new StagingRing(
              device.device(),
              board,
              new StagingRing.Geometry(
                  memory.address() + staging.offset(),
                  staging.slotBytes(),
                  staging.loadSlots(),
                  staging.saveSlots()),
              System::nanoTime,
              patienceNanos);
      taken = true;
      return Decoded.good(
          new StagedBuffers(
              layouts,
              device.mover(),
              ring,
              () -> execute(() -> close(ring, memory, release)),
              this::keep));
    } catch (CudaException refused) {
      return Decoded.bad(
          RefusalCode.BAD_BUFFER, "staging.handle", String.valueOf(refused.getMessage()));
    } finally {
      if (!taken) {
        close(memory);
      }
    }
  }

  private void close(StagingRing ring, IpcMemory.Opened memory, Runnable release) {
    try {
      ring.close();
    } catch (CudaException failed) {
      keep("events were not freed: " + failed.getMessage());
    }
    close(memory);
    release.run();
  }

  private void close(IpcMemory.Opened memory) {
    try {
      memory.close();
    } catch (CudaException failed) {
      keep("a staging ring was not closed: " + failed.getMessage());
    }
  }

  /** What could not be given back is said once and for all, the first few. */
  private void keep(String what) {
    LOG.error("GPU memory stays mapped: {}", what);
    if (kept.size() < 16) {
      kept.add(what);
    }
  }

  // ---- what others see -------------------------------------------------------------------------

  /** The open GPUs, by UUID. */
  public synchronized List<View> views() {
    List<View> views = new ArrayList<>();
    for (Open each : open.values()) {
      views.add(
          new View(each.device().gpu(), each.mover().report(), each.memory().count(), each.mps()));
    }
    return views;
  }

  /** What does not work, for people. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    for (View view : views()) {
      String problem = view.report().problem();
      if (problem != null) {
        problems.add(
            "GPU %s takes no copies any more, restart the daemon: %s"
                .formatted(view.gpu().uuid(), problem));
      }
    }
    kept.forEach(what -> problems.add("GPU memory stays mapped: " + what));
    return problems;
  }

  /** Closes every GPU; no copy is under way any more. */
  @Override
  public void close() throws CudaException {
    beside.shutdown();
    try {
      if (!beside.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a GPU is still being opened or closed after {} s", CLOSE_SECONDS);
        return;
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return;
    }
    for (Open each : open.values()) {
      each.mover().close();
    }
    if (pinnedBy != null) {
      pinnedBy.unpin(pool);
    }
    for (Open each : open.values()) {
      each.device().close();
    }
  }
}
