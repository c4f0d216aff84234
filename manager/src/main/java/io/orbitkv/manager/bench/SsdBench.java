package io.orbitkv.manager.bench;

import com.sun.management.OperatingSystemMXBean;
import io.orbitkv.core.ssd.device.OpenSsdDevice;
import io.orbitkv.core.ssd.device.SsdBackend;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.core.ssd.device.SsdDevices;
import io.orbitkv.core.ssd.device.SsdFileSpec;
import io.orbitkv.core.ssd.device.SsdFiles;
import io.orbitkv.core.ssd.device.SsdOpening;
import io.orbitkv.core.ssd.device.SsdRefusal;
import io.orbitkv.core.ssd.device.UringDevice;
import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.manager.workload.Samples;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * The SSD device beside fio, on the same file with the same sizes and depths. Both run each load
 * for a second or so in turn, round after round, because a shared disk changes its speed from
 * minute to minute; who goes first changes with the round.
 */
final class SsdBench {
  private static final int FILL_BYTES = 1 << 20;
  private static final int FILL_DEPTH = 8;
  private static final long WAIT_NANOS = 30_000_000_000L;
  private static final double SHARE = 0.95;
  private static final double WARM_UP_SECONDS = 0.5;

  /**
   * What to measure.
   *
   * @param dir where the file is made and deleted
   * @param fileBytes its length
   * @param seconds how long a load runs in a round
   * @param loads which
   * @param fio empty to go without a floor
   */
  record Options(
      Path dir,
      long fileBytes,
      SsdBackend backend,
      int rounds,
      double seconds,
      List<DiskLoad> loads,
      Optional<Fio> fio) {}

  /** The results of one load. */
  private static final class Results {
    final List<LoadResult> ours = new ArrayList<>();
    final List<LoadResult> floor = new ArrayList<>();
  }

  private final Options options;
  private final SsdFiles files;
  private final OpenSsdDevice opened;
  private final SsdDevice device;
  private final long rangeBytes;
  private final BenchReport report = new BenchReport("ssd");
  private final SplittableRandom random = new SplittableRandom(1);
  private final OperatingSystemMXBean process =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private SsdBench(Options options, SsdFiles files, OpenSsdDevice opened) {
    this.options = options;
    this.files = files;
    this.opened = opened;
    this.device = opened.device();
    this.rangeBytes = (files.bytes(0) - SsdFiles.FIRST_OFFSET) >> 20 << 20;
  }

  /**
   * Measures.
   *
   * @throws Failure if the disk refuses or fails
   */
  static BenchReport run(Options options) {
    long poolBytes =
        DiskLoad.ALL.stream().mapToLong(load -> (long) load.bytes() * load.depth()).max().orElse(0);
    int depth = DiskLoad.ALL.stream().mapToInt(DiskLoad::depth).max().orElse(0);
    SsdFileSpec spec = new SsdFileSpec(options.dir(), options.fileBytes());
    try (Mapping pool = Mapping.anonymous(poolBytes, MapOptions.READ_WRITE.withPopulate(true));
        SsdFiles files = orFail(SsdFiles.open(List.of(spec), UUID.randomUUID()))) {
      OpenSsdDevice opened =
          orFail(SsdDevices.open(options.backend(), files, pool.segment(), depth));
      try (SsdDevice device = opened.device()) {
        if (device instanceof UringDevice uring) {
          boolean more = true;
          while (more) {
            more = uring.registerNext();
          }
        }
        for (long at = 0; at < poolBytes; at += 8) {
          pool.segment().set(ValueLayout.JAVA_LONG, at, at * 0x9E3779B97F4A7C15L);
        }
        return new SsdBench(options, files, opened).measure();
      }
    } catch (NativeException noMemory) {
      throw new Failure("no memory for the buffers: " + noMemory.getMessage(), "", noMemory);
    }
  }

  private static <T> T orFail(SsdOpening<T> opening) {
    return switch (opening) {
      case SsdOpening.Opened<T>(T value) -> value;
      case SsdOpening.Refused<T>(SsdRefusal refusal) ->
          throw new Failure(refusal.message(), refusal.remedy());
    };
  }

  private BenchReport measure() {
    fill();
    List<Results> results = new ArrayList<>();
    for (DiskLoad load : options.loads()) {
      results.add(new Results());
      load(load, Math.min(WARM_UP_SECONDS, options.seconds()));
    }
    int steps = options.rounds() * options.loads().size();
    try (ProgressLine progress = new ProgressLine("bench ssd", steps)) {
      for (int round = 0; round < options.rounds(); round++) {
        for (int i = 0; i < options.loads().size(); i++) {
          progress.accept(round * options.loads().size() + i, options.loads().get(i).text());
          measure(options.loads().get(i), round % 2 == 0, results.get(i));
        }
      }
    }
    for (int i = 0; i < options.loads().size(); i++) {
      report(options.loads().get(i), results.get(i));
    }
    report.note("%s: %s".formatted(opened.chosen(), opened.reason()));
    opened.shortfalls().forEach(each -> report.note(each.toString()));
    report.note(
        "%s in %s, %d rounds of %s s a load, medians"
            .formatted(
                Quantity.bytesText(options.fileBytes()),
                options.dir(),
                options.rounds(),
                String.format(Locale.ROOT, "%.1f", options.seconds())));
    report.note(
        options.fio().isPresent()
            ? "floor: " + fioCommand() + "; CPU is that of the whole process"
            : Fio.HOW_TO_INSTALL);
    return report;
  }

  private void measure(DiskLoad load, boolean floorFirst, Results results) {
    if (floorFirst) {
      floor(load, results);
    }
    results.ours.add(load(load, options.seconds()));
    if (!floorFirst) {
      floor(load, results);
    }
  }

  private void floor(DiskLoad load, Results results) {
    if (options.fio().isPresent()) {
      int seconds = (int) Math.max(1, Math.round(options.seconds()));
      results.floor.add(
          options
              .fio()
              .get()
              .run(
                  load,
                  files.files().getFirst().path(),
                  SsdFiles.FIRST_OFFSET,
                  rangeBytes,
                  engine(),
                  files.direct(),
                  seconds));
    }
  }

  private String engine() {
    return opened.chosen() == SsdBackend.URING ? "io_uring" : "libaio";
  }

  private String fioCommand() {
    List<String> command =
        Fio.command(
            "fio",
            options.loads().getFirst(),
            files.files().getFirst().path(),
            SsdFiles.FIRST_OFFSET,
            rangeBytes,
            engine(),
            files.direct(),
            (int) Math.max(1, Math.round(options.seconds())));
    return String.join(" ", command);
  }

  private void report(DiskLoad load, Results results) {
    double ours = median(results.ours, false);
    double cpu = median(results.ours, true);
    double scale = load.small() ? load.bytes() : 1;
    Unit unit = load.small() ? Unit.PER_SECOND : Unit.BYTES_PER_SECOND;
    Figure cpuFigure = Figure.plain("  CPU time a GB", Unit.NANOS, cpu);
    if (results.floor.isEmpty()) {
      report.add(Figure.plain(load.text(), unit, ours / scale));
      report.add(cpuFigure);
    } else {
      double floor = median(results.floor, false);
      report.add(Figure.atLeastShare(load.text(), unit, ours / scale, floor / scale, SHARE));
      report.add(cpuFigure.besides(median(results.floor, true)));
    }
  }

  private static double median(List<LoadResult> results, boolean cpu) {
    return Samples.median(
        results.stream()
            .mapToDouble(each -> cpu ? each.cpuNanosPerGb() : each.bytesPerSecond())
            .toArray());
  }

  /** Writes the whole file once: blocks that were never written are read without the disk. */
  private void fill() {
    DiskLoad sequential = new DiskLoad(FILL_BYTES, FILL_DEPTH, false, true);
    new Run(sequential).times(rangeBytes / FILL_BYTES);
  }

  private LoadResult load(DiskLoad load, double seconds) {
    return new Run(load).forSeconds(seconds);
  }

  /** One load in the course of running. */
  private final class Run {
    private final DiskLoad load;
    private final long places;
    private long nextPlace;
    private long queued;
    private long ended;
    private boolean stopping;

    Run(DiskLoad load) {
      this.load = load;
      this.places = rangeBytes / load.bytes();
    }

    void times(long operations) {
      for (int slot = 0; slot < load.depth() && queued < operations; slot++) {
        queue(slot);
      }
      while (ended < queued) {
        stopping = queued >= operations;
        turn();
      }
    }

    LoadResult forSeconds(double seconds) {
      long cpuStart = process.getProcessCpuTime();
      long start = System.nanoTime();
      long end = start + (long) (seconds * 1e9);
      for (int slot = 0; slot < load.depth(); slot++) {
        queue(slot);
      }
      while (System.nanoTime() < end) {
        turn();
      }
      stopping = true;
      while (ended < queued) {
        turn();
      }
      double nanos = System.nanoTime() - start;
      double cpuNanos = process.getProcessCpuTime() - cpuStart;
      double bytes = (double) ended * load.bytes();
      return new LoadResult(bytes / (nanos / 1e9), cpuNanos / (bytes / 1e9));
    }

    private void turn() {
      long before = ended;
      long waitStart = System.nanoTime();
      while (device.poll(this::completed) == 0) {
        device.await(WAIT_NANOS);
        if (ended == before && System.nanoTime() - waitStart > WAIT_NANOS) {
          throw new Failure("the disk answered nothing for 30 s", "look at the disk");
        }
      }
    }

    private void completed(long slot, int result) {
      ended++;
      if (result != load.bytes()) {
        String what = result < 0 ? Errno.of(-result).toString() : result + " bytes";
        throw new Failure("a " + load.text() + " gave " + what, "look at the disk");
      }
      if (!stopping) {
        queue(slot);
      }
    }

    private void queue(long slot) {
      long place = load.random() ? random.nextLong(places) : nextPlace++ % places;
      long fileOffset = SsdFiles.FIRST_OFFSET + place * load.bytes();
      long poolOffset = slot * load.bytes();
      boolean accepted =
          load.write()
              ? device.write(0, fileOffset, poolOffset, load.bytes(), slot)
              : device.read(0, fileOffset, poolOffset, load.bytes(), slot);
      if (!accepted) {
        throw new IllegalStateException("the device takes fewer than " + load.depth());
      }
      queued++;
    }
  }
}
