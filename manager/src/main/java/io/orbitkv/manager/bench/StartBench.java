package io.orbitkv.manager.bench;

import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How long a Manager takes from the start of its process until it serves: on nothing, on a journal
 * of many facts, and on one whose SSD tier is full. Each is a process of its own, in turn.
 */
final class StartBench {
  /** Beside the tier's file: journals and their copies. */
  private static final long OTHER_BYTES = 2L << 30;

  private static final double BUDGET_NANOS = 3e9;
  private static final int ASKED_SAMPLES = 4;

  private final int rounds;
  private final Path dir;
  private final BenchReport report;
  private final double[] empty;
  private final double[] emptyCpu;

  /**
   * @param dir an empty folder, or one whose files have other names
   * @param report takes the figures
   */
  StartBench(int rounds, Path dir, BenchReport report) {
    this.rounds = rounds;
    this.dir = dir;
    this.report = report;
    this.empty = new double[rounds];
    this.emptyCpu = new double[rounds];
  }

  /**
   * Measures.
   *
   * @param journal of many facts
   * @param extents how many lie on SSD, 0 to leave that out
   */
  void measure(Path journal, int facts, int extents) throws IOException {
    Path ssd = dir.resolve("tier.ssd");
    SsdJournal onSsd = extents > 0 ? ssdJournal(ssd, extents) : null;
    double[] full = new double[rounds];
    double[] fullCpu = new double[rounds];
    double[] tier = new double[rounds];
    double[] tierCpu = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      Path at = Files.createDirectory(dir.resolve("start-" + round));
      try (ManagerProcess manager = start(Files.createDirectory(at.resolve("e")), List.of())) {
        note(manager, round, empty, emptyCpu);
      }
      try (ManagerProcess manager = start(copied(journal, at.resolve("f")), List.of())) {
        note(manager, round, full, fullCpu);
      }
      if (onSsd != null) {
        List<String> flags =
            List.of(
                "--ssd-cache-path", ssd.toString(), "--ssd-cache-capacity", Files.size(ssd) + "b");
        Path copy = copied(dir.resolve("ssd-journal"), at.resolve("s"));
        try (ManagerProcess manager = start(copy, flags)) {
          note(manager, round, tier, tierCpu);
          StoredSamples.ask(manager.socket(), some(onSsd.samples(), round));
        }
      }
      delete(at);
    }
    report("start on %,d facts".formatted(facts), full, fullCpu);
    if (onSsd != null) {
      report("start on %,d extents on SSD".formatted(extents), tier, tierCpu);
      report.note(
          ("that journal has %,d facts, %,d of them behind a checkpoint of the full tier: just before"
                  + " the next one; %d blocks were read back from SSD after each start")
              .formatted(onSsd.facts(), onSsd.tailFacts(), ASKED_SAMPLES * StoredSamples.RUN));
    }
    report.note("the start's floor is that on an empty journal; both begin at the launcher");
  }

  private void report(String name, double[] nanos, double[] cpuNanos) {
    report.add(
        Figure.atMost(name + " until served", Unit.NANOS, Samples.median(nanos), BUDGET_NANOS)
            .besides(Samples.median(empty)));
    report.add(
        Figure.plain(name + ", processor time", Unit.NANOS, Samples.median(cpuNanos))
            .besides(Samples.median(emptyCpu)));
  }

  /** Null where the disk has no room for the tier, which a note tells. */
  private @Nullable SsdJournal ssdJournal(Path ssd, int extents) throws IOException {
    long needed = SsdFacts.fileBytes(extents) + OTHER_BYTES;
    long free = freeBytes();
    if (free < needed) {
      report.note(
          ("NOT MEASURED: the start on %,d extents on SSD needs %s in %s, which has %s free; choose"
                  + " another folder with ORBITKV_TMPDIR")
              .formatted(
                  extents,
                  Unit.BYTES.text((double) needed),
                  dir.getParent(),
                  Unit.BYTES.text((double) free)));
      return null;
    }
    return SsdJournal.write(dir.resolve("ssd-journal"), ssd, extents, Long.MAX_VALUE);
  }

  private long freeBytes() throws IOException {
    try {
      return FileSystemSpace.ofPath(dir.toString()).freeBytes();
    } catch (NativeException failed) {
      throw new IOException(dir.toString(), failed);
    }
  }

  private static void note(ManagerProcess manager, int round, double[] nanos, double[] cpuNanos) {
    nanos[round] = manager.startNanos();
    cpuNanos[round] = manager.startCpu().toNanos();
  }

  private static List<Long> some(List<Long> samples, int round) {
    int distance = Math.max(1, samples.size() / ASKED_SAMPLES);
    return Stream.iterate(round % distance, at -> at + distance)
        .limit(ASKED_SAMPLES)
        .map(at -> samples.get(at % samples.size()))
        .toList();
  }

  private static ManagerProcess start(Path managerDir, List<String> more) {
    List<String> flags = Stream.concat(Stream.of("--pool-size", "4gb"), more.stream()).toList();
    return ManagerProcess.start(managerDir, flags, List.of());
  }

  // ---- files

  /** A folder for a Manager with a copy of a journal. */
  private static Path copied(Path journal, Path managerDir) throws IOException {
    Path to = Files.createDirectory(managerDir).resolve("journal");
    List<Path> sources;
    try (Stream<Path> walk = Files.walk(journal)) {
      sources = walk.toList();
    }
    for (Path source : sources) {
      Files.copy(source, to.resolve(journal.relativize(source)));
    }
    return managerDir;
  }

  private static void delete(Path folder) throws IOException {
    List<Path> deepestFirst;
    try (Stream<Path> walk = Files.walk(folder)) {
      deepestFirst = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : deepestFirst) {
      Files.delete(each);
    }
  }
}
