package io.orbitkv.manager.bench;

import io.orbitkv.client.Lease;
import io.orbitkv.client.gpu.StagingOptions;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaDriver;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.Samples;
import io.orbitkv.manager.workload.ScratchDir;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Publishes and restores of pages on a GPU, checksums on, by segment size, each way and both at
 * once, beside one bulk pinned copy in the same run; and restores beside a decode-like loop of the
 * engine's process. Two requests are under way each way, as an engine has them that does not wait
 * for one before the next; a lone request pays for its decision and its seal besides. The Manager
 * is another process.
 */
final class GpuBench {
  /** Some ten seconds, after which the compilers of both JVMs have little left to do. */
  private static final int WARM_UP_ROUNDS = 12;

  /** Before each further size. */
  private static final int MORE_ROUNDS = 3;

  /**
   * Of one thread; two threads each way keep two requests of half a batch under way. So many that
   * the decision on the first and the seal of the last, which nothing hides, weigh little.
   */
  private static final int REQUESTS = 6;

  private static final double SHARE = 0.97;
  private static final double SHARE_BOTH = 0.9;
  private static final double SHARE_BESIDE = 0.95;
  private static final double STEP_TIMES = 1.1;

  /**
   * What to measure.
   *
   * @param batchBytes of one publish or restore
   * @param rounds of each
   * @param others whether to measure the other ways to copy segments
   * @param beside whether to measure beside a decode loop
   */
  record Plan(
      List<Integer> segmentBytes,
      long batchBytes,
      int rounds,
      StagingOptions staging,
      boolean others,
      boolean beside) {}

  private final Plan plan;
  private final BenchReport report = new BenchReport("gpu");
  private final Map<String, List<Double>> measured = new TreeMap<>();
  private long nextBatch;
  private boolean warm;

  private GpuBench(Plan plan) {
    this.plan = plan;
  }

  static BenchReport run(Plan plan) {
    CudaDriver driver =
        switch (Cuda.find()) {
          case Cuda.Found.Present(CudaDriver present) -> present;
          case Cuda.Found.Absent(String reason, String remedy) ->
              throw new Failure("there is no GPU to measure: " + reason, remedy);
        };
    List<String> flags = List.of("--pool-size", Long.toString(3 * plan.batchBytes()), "--prefault");
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-");
        CudaDevice device = driver.open(0);
        GpuFloor floor = new GpuFloor(device, plan.batchBytes());
        ManagerProcess manager = ManagerProcess.start(dir.path(), flags, List.of())) {
      GpuBench bench = new GpuBench(plan);
      for (int segmentBytes : plan.segmentBytes()) {
        bench.measure(device, floor, manager.socket(), segmentBytes);
      }
      StagingOptions staging = plan.staging();
      bench.report.note(
          ("medians over %d rounds, two requests of %d MiB under way each way, checksums on; %d + %d slots of %d MiB, kernels of %d"
                  + " blocks; %s, CUDA %s")
              .formatted(
                  plan.rounds(),
                  plan.batchBytes() >> 21,
                  staging.loadSlots(),
                  staging.saveSlots(),
                  staging.slotBytes() >> 20,
                  staging.blocks(),
                  device.gpu().name(),
                  driver.version()));
      return bench.report;
    } catch (CudaException | NativeException failed) {
      throw new Failure("the GPU failed: " + failed.getMessage(), "", failed);
    }
  }

  private void measure(CudaDevice device, GpuFloor floor, String socket, int segmentBytes)
      throws CudaException, NativeException {
    measured.clear();
    GpuShape shape = GpuShape.of(segmentBytes, plan.batchBytes());
    try (GpuEngine engine = GpuEngine.connect(device, socket, shape, plan.staging())) {
      proveBytes(engine, floor);
      int warmUp = warm ? MORE_ROUNDS : WARM_UP_ROUNDS;
      warm = true;
      for (int round = -warmUp; round < plan.rounds(); round++) {
        round(engine, floor, round >= 0);
      }
      reportRounds(segmentBytes);
      if (plan.others()) {
        others(floor, segmentBytes);
      }
      if (plan.beside()) {
        beside(device, floor, engine, segmentBytes);
      }
    }
  }

  /** Once for each size: what comes back is what went, to the byte. */
  private void proveBytes(GpuEngine engine, GpuFloor floor) throws CudaException {
    long bytes = engine.shape().bytes();
    IntRun all = engine.pages();
    KeyRun keys = engine.keys(nextBatch++, all);
    floor.fill(engine.memory(), bytes);
    engine.publish(keys, all);
    floor.wipe(engine.memory(), bytes);
    Lease lease = engine.lease(keys);
    engine.restore(lease, all);
    engine.release(lease);
    long wrong = floor.mismatch(engine.memory(), bytes);
    if (wrong >= 0) {
      throw new Failure(
          "byte %d of the pages came back wrong".formatted(wrong),
          "report this: a restore must never give wrong bytes");
    }
  }

  private void round(GpuEngine engine, GpuFloor floor, boolean counts) throws CudaException {
    if (counts) {
      note("bulk load", floor.load());
      note("bulk save", floor.save());
      note("bulk both", floor.both());
    }
    IntRun all = engine.pages();
    KeyRun keys = engine.keys(nextBatch++, all);
    long bytes = engine.shape().bytes();
    double lone = bytesPerSecond(bytes, () -> engine.publish(keys, all));
    Lease lease = engine.lease(keys);
    double loneLoad = bytesPerSecond(bytes, () -> engine.restore(lease, all));
    engine.release(lease);
    Saver[] savers = {saver(engine, 0), saver(engine, 1)};
    long moved = savers[0].bytes() + savers[1].bytes();
    double save = bytesPerSecond(moved, () -> together(savers));
    Loader[] loaders = {savers[0].loader(), savers[1].loader()};
    double load = bytesPerSecond(moved, () -> together(loaders));
    Saver[] more = {saver(engine, 0), saver(engine, 1)};
    double both =
        bytesPerSecond(2 * moved, () -> together(more[0], more[1], loaders[0], loaders[1]));
    for (Loader loader : loaders) {
      engine.release(loader.lease());
    }
    if (counts) {
      note("save alone", lone);
      note("load alone", loneLoad);
      note("save", save);
      note("load", load);
      note("both", both);
    }
  }

  private Saver saver(GpuEngine engine, int half) {
    IntRun pages = engine.half(half);
    List<KeyRun> batches = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      batches.add(engine.keys(nextBatch++, pages));
    }
    return new Saver(engine, pages, batches);
  }

  /** Publishes half of the pages some times, one request after the other. */
  private record Saver(GpuEngine engine, IntRun pages, List<KeyRun> batches) implements Runnable {
    long bytes() {
      return (long) batches.size() * pages.size() * engine.shape().blockBytes();
    }

    /** Who restores as much as this published. */
    Loader loader() {
      return new Loader(engine, pages, engine.lease(batches.getLast()));
    }

    @Override
    public void run() {
      batches.forEach(keys -> engine.publish(keys, pages));
    }
  }

  /** Restores half of the pages as often. */
  private record Loader(GpuEngine engine, IntRun pages, Lease lease) implements Runnable {
    @Override
    public void run() {
      for (int i = 0; i < REQUESTS; i++) {
        engine.restore(lease, pages);
      }
    }
  }

  private static void together(Runnable... all) {
    AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (Runnable one : all) {
      threads.add(
          Thread.ofPlatform()
              .uncaughtExceptionHandler((_, thrown) -> failed.set(thrown))
              .start(one));
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    if (failed.get() != null) {
      throw new Failure("what ran beside failed: " + failed.get(), "");
    }
  }

  private void reportRounds(int segmentBytes) {
    String segments = ", segments of " + size(segmentBytes);
    Unit unit = Unit.BYTES_PER_SECOND;
    report.add(Figure.atLeastShare("restore" + segments, unit, of("load"), of("bulk load"), SHARE));
    report.add(Figure.atLeastShare("publish" + segments, unit, of("save"), of("bulk save"), SHARE));
    report.add(
        Figure.atLeastShare(
            "both at once" + segments, unit, of("both"), of("bulk both"), SHARE_BOTH));
    report.add(
        Figure.plain("one restore at a time" + segments, unit, of("load alone"))
            .besides(of("bulk load")));
    report.add(
        Figure.plain("one publish at a time" + segments, unit, of("save alone"))
            .besides(of("bulk save")));
  }

  private void others(GpuFloor floor, int segmentBytes) throws CudaException {
    for (boolean load : new boolean[] {true, false}) {
      double bulk = of(load ? "bulk load" : "bulk save");
      String tail = (load ? " in" : " out") + ", segments of " + size(segmentBytes);
      List<Double> loop = new ArrayList<>();
      List<Double> batch = new ArrayList<>();
      for (int round = 0; round < 3; round++) {
        loop.add(floor.loop(segmentBytes, load));
        batch.add(floor.batch(segmentBytes, load));
      }
      Unit unit = Unit.BYTES_PER_SECOND;
      report.add(Figure.plain("loop of copies" + tail, unit, median(loop)).besides(bulk));
      report.add(Figure.plain("batch copy" + tail, unit, median(batch)).besides(bulk));
    }
  }

  private void beside(CudaDevice device, GpuFloor floor, GpuEngine engine, int segmentBytes)
      throws CudaException {
    String segments = ", segments of " + size(segmentBytes);
    Saver[] savers = {saver(engine, 0), saver(engine, 1)};
    together(savers);
    Loader[] loaders = {savers[0].loader(), savers[1].loader()};
    long moved = savers[0].bytes() + savers[1].bytes();
    List<Double> speeds = new ArrayList<>();
    try (DecodeLoop decode = new DecodeLoop(device)) {
      var _ = decode.during(() -> sleep(300));
      Samples alone = decode.during(() -> sleep(500));
      Samples bulk = decode.during(() -> repeat(floor));
      Samples busy =
          decode.during(
              () -> {
                for (int round = 0; round < 4; round++) {
                  speeds.add(bytesPerSecond(moved, () -> together(loaders)));
                }
              });
      report.add(
          Figure.atLeastShare(
              "restore beside decoding" + segments,
              Unit.BYTES_PER_SECOND,
              median(speeds),
              of("bulk load"),
              SHARE_BESIDE));
      report.add(
          Figure.plain(
                  "decode step p99 beside bulk copies",
                  Unit.NANOS,
                  (double) bulk.percentileNanos(99))
              .besides((double) alone.percentileNanos(99)));
      report.add(
          Figure.plain("decode step p50" + segments, Unit.NANOS, (double) busy.percentileNanos(50))
              .besides((double) alone.percentileNanos(50)));
      report.add(
          Figure.atMostTimes(
              "decode step p99" + segments,
              Unit.NANOS,
              (double) busy.percentileNanos(99),
              (double) alone.percentileNanos(99),
              STEP_TIMES));
    } finally {
      for (Loader loader : loaders) {
        engine.release(loader.lease());
      }
    }
  }

  /** Bulk copies for half a second or so. */
  private static void repeat(GpuFloor floor) {
    try {
      for (int i = 0; i < 12; i++) {
        var _ = floor.load();
      }
    } catch (CudaException failed) {
      throw new Failure("a bulk copy failed: " + failed.getMessage(), "", failed);
    }
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void note(String name, double figure) {
    measured.computeIfAbsent(name, _ -> new ArrayList<>()).add(figure);
  }

  private double of(String name) {
    return median(measured.getOrDefault(name, List.of()));
  }

  private static double median(List<Double> figures) {
    return Samples.median(figures.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private static double bytesPerSecond(long bytes, Runnable operation) {
    long start = System.nanoTime();
    operation.run();
    return bytes / ((System.nanoTime() - start) / 1e9);
  }

  private static String size(int bytes) {
    return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
  }
}
