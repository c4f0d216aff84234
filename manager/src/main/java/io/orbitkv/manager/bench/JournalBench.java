package io.orbitkv.manager.bench;

import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.bench.FactStream.Mix;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Samples;
import io.orbitkv.manager.workload.ScratchDir;
import io.orbitkv.state.HostEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The journal: appends at a steady pace and as fast as they go, the fold, and the start of a
 * Manager on a million facts.
 */
final class JournalBench {
  private static final int FACTS_A_SECOND = 20_000;
  private static final int PACED = 20_000;
  private static final int SATURATED = 100_000;
  private static final int WARM_UP = 200_000;
  private static final int WARM_UP_FOLDS = 3;
  private static final long SEED = 1;

  private final int rounds;
  private final int facts;
  private final int extents;
  private final Path dir;
  private final BenchReport report = new BenchReport("journal");
  private int recordBytes;

  private JournalBench(int rounds, int facts, int extents, Path dir) {
    this.rounds = rounds;
    this.facts = facts;
    this.extents = extents;
    this.dir = dir;
  }

  /**
   * Measures.
   *
   * @param facts facts of the journal that is folded and started on, at least a million for the
   *     budget's figure
   * @param extents of the SSD tier that is started on, likewise; 0 for none
   */
  static BenchReport run(int rounds, int facts, int extents) {
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-")) {
      return new JournalBench(rounds, facts, extents, dir.path()).measure();
    } catch (IOException failed) {
      throw new Failure(
          "the disk failed: " + failed.getMessage(),
          "about 1 GB is needed in the temporary folder",
          failed);
    }
  }

  private BenchReport measure() throws IOException {
    Path small = dir.resolve("small");
    write(small, Mix.SMALL);
    Path journal = dir.resolve("journal");
    appends(journal);
    fold("small facts", small);
    fold("facts of conversations", journal);
    new StartBench(rounds, dir, report).measure(journal, facts, extents);
    return report;
  }

  // ---- appends

  private void appends(Path path) throws IOException {
    FactStream stream = new FactStream(SEED, System.currentTimeMillis() * 1_000, Mix.CONVERSATIONS);
    List<Samples> paced = new ArrayList<>();
    List<Samples> floors = new ArrayList<>();
    double[] saturated = new double[rounds];
    double[] saturatedFloor = new double[rounds];
    try (Journal journal = open(path)) {
      for (int i = 0; i < WARM_UP; i++) {
        append(journal, stream);
      }
      recordBytes = (int) (journal.stats().partBytes() / journal.lastPosition());
      MappedLog floor = new MappedLog(dir.resolve("floor"), recordBytes);
      for (int i = 0; i < WARM_UP; i++) {
        floor.append();
      }
      for (int round = 0; round < rounds; round++) {
        paced.add(paced(stream::next, event -> journal.append(stream.atMicros(), event)));
        floors.add(paced(() -> "", _ -> floor.append()));
        saturated[round] = saturated(journal, stream);
        saturatedFloor[round] = saturated(floor);
      }
      while (journal.lastPosition() < facts) {
        append(journal, stream);
      }
      long tail = upToTheNextCheckpoint(journal, stream);
      report.note(
          "the start folds %,d facts behind a checkpoint: just before the next one"
              .formatted(tail));
      report.note("%,d bytes a fact, the floor's records as large".formatted(recordBytes));
    }
    figures(paced, floors);
    report.add(
        Figure.plain("append, back to back", Unit.PER_SECOND, Samples.median(saturated))
            .besides(Samples.median(saturatedFloor)));
  }

  /**
   * Appends until the next fact would be the one that makes a checkpoint due, as a Manager leaves
   * its journal that is killed then.
   */
  private static long upToTheNextCheckpoint(Journal journal, FactStream stream) {
    int every = JournalOptions.DEFAULT.checkpointFacts();
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (journal.lastPosition() - journal.stats().checkpointPosition() >= every) {
      if (System.nanoTime() > deadline) {
        throw new Failure("no checkpoint was made for 60 s: " + journal.stats(), "");
      }
      Thread.onSpinWait();
    }
    while (journal.lastPosition() - journal.stats().checkpointPosition() < every - 1) {
      append(journal, stream);
    }
    return journal.lastPosition() - journal.stats().checkpointPosition();
  }

  private void write(Path path, Mix mix) throws IOException {
    FactStream stream = new FactStream(SEED, System.currentTimeMillis() * 1_000, mix);
    try (Journal journal = open(path)) {
      while (journal.lastPosition() < facts) {
        append(journal, stream);
      }
    }
  }

  private static void append(Journal journal, FactStream stream) {
    awaitRoom(journal);
    HostEvent event = stream.next();
    journal.append(stream.atMicros(), event);
  }

  /** One operation at each tick; what it needs is prepared off the clock. */
  private static <T> Samples paced(Supplier<T> prepare, Consumer<T> measured) {
    Samples samples = new Samples();
    long intervalNanos = 1_000_000_000L / FACTS_A_SECOND;
    long due = System.nanoTime();
    for (int i = 0; i < PACED; i++) {
      T prepared = prepare.get();
      due += intervalNanos;
      while (System.nanoTime() < due) {
        Thread.onSpinWait();
      }
      long start = System.nanoTime();
      measured.accept(prepared);
      samples.add(System.nanoTime() - start);
    }
    return samples;
  }

  private static double saturated(Journal journal, FactStream stream) {
    List<HostEvent> events = new ArrayList<>(SATURATED);
    for (int i = 0; i < SATURATED; i++) {
      events.add(stream.next());
    }
    long atMicros = stream.atMicros();
    long nanos = 0;
    for (int from = 0; from < SATURATED; from += 1_000) {
      awaitRoom(journal);
      long start = System.nanoTime();
      for (int i = from; i < from + 1_000; i++) {
        journal.append(atMicros, events.get(i));
      }
      nanos += System.nanoTime() - start;
    }
    return SATURATED / (nanos / 1e9);
  }

  private static double saturated(MappedLog floor) {
    long start = System.nanoTime();
    for (int i = 0; i < SATURATED; i++) {
      floor.append();
    }
    return SATURATED / ((System.nanoTime() - start) / 1e9);
  }

  private void figures(List<Samples> paced, List<Samples> floors) {
    String name = "append at %,d/s ".formatted(FACTS_A_SECOND);
    report.add(
        Figure.atMost(name + "p50", Unit.NANOS, median(paced, 50), 1_000)
            .besides(median(floors, 50)));
    report.add(
        Figure.atMost(name + "p99", Unit.NANOS, median(paced, 99), 10_000)
            .besides(median(floors, 99)));
    report.add(
        Figure.plain(name + "p99.9", Unit.NANOS, median(paced, 99.9))
            .besides(median(floors, 99.9)));
    report.add(
        Figure.plain(name + "max", Unit.NANOS, median(paced, 100)).besides(median(floors, 100)));
    report.note(
        "medians over %d rounds, floor and subject in turn; the floor copies a record and its"
                .formatted(rounds)
            + " CRC32C into a mapped file");
  }

  private static double median(List<Samples> samples, double percent) {
    return Samples.median(
        samples.stream().mapToDouble(each -> each.percentileNanos(percent)).toArray());
  }

  // ---- fold

  private void fold(String name, Path path) throws IOException {
    double[] perSecond = new double[rounds];
    double[] floors = new double[rounds];
    long folded = 0;
    for (int i = 0; i < WARM_UP_FOLDS; i++) {
      folded = foldAll(path);
    }
    MappedLog floor = new MappedLog(dir.resolve("floor of " + name), recordBytes);
    int records = floor.capacity();
    for (int i = 0; i < records; i++) {
      floor.append();
    }
    for (int round = 0; round < rounds; round++) {
      long start = System.nanoTime();
      long count = foldAll(path);
      perSecond[round] = count / ((System.nanoTime() - start) / 1e9);
      start = System.nanoTime();
      if (floor.scan(records) != records) {
        throw new IllegalStateException("the floor's records do not have their sums");
      }
      floors[round] = records / ((System.nanoTime() - start) / 1e9);
    }
    report.add(
        Figure.atLeast(
                "fold of %,d %s".formatted(folded, name),
                Unit.PER_SECOND,
                Samples.median(perSecond),
                2e6)
            .besides(Samples.median(floors)));
  }

  private static long foldAll(Path path) throws IOException {
    Replay replay =
        Replayer.run(
            JournalReader.open(path),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    if (!replay.clean()) {
      throw new IllegalStateException("the journal does not fold: " + replay.ending());
    }
    return replay.facts();
  }

  // ---- files

  private static Journal open(Path path) throws IOException {
    long nowMicros = System.currentTimeMillis() * 1_000;
    return switch (Recovery.open(path, JournalOptions.DEFAULT, nowMicros)) {
      case Recovered.Opened opened -> opened.journal();
      case Recovered.Refused refused -> throw new Failure(refused.message(), refused.remedy());
    };
  }

  /** The disk must keep up: blocks are reserved by another thread. */
  private static void awaitRoom(Journal journal) {
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (!journal.hasRoom(1_000, 1 << 20)) {
      if (System.nanoTime() > deadline) {
        throw new Failure("the journal found no room for 30 s", "free some space");
      }
      Thread.onSpinWait();
    }
  }
}
