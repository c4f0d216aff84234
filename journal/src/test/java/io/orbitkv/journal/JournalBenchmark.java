package io.orbitkv.journal;

import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/**
 * Measures the journal: append under a steady load, fold, recovery. Run it with a directory on the
 * disk to measure and a number of facts.
 */
final class JournalBenchmark {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final List<Fact> facts = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    Path base = Path.of(arguments.length > 0 ? arguments[0] : "/tmp");
    int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
    Path dir = Files.createTempDirectory(base, "journal-bench");
    try {
      JournalBenchmark benchmark = new JournalBenchmark();
      benchmark.prepare(count);
      benchmark.floor();
      benchmark.append("warm-up, as fast as it goes", dir.resolve("warm"), 0, SyncMode.DEFAULT);
      benchmark.append("as fast as it goes", dir.resolve("fast"), 0, SyncMode.DEFAULT);
      benchmark.append("100,000 facts/s", dir.resolve("steady"), 100_000, SyncMode.DEFAULT);
      benchmark.append(
          "100,000 facts/s, no flush", dir.resolve("none"), 100_000, new SyncMode.None());
      for (int round = 0; round < 4; round++) {
        benchmark.decode(dir.resolve("steady"));
        benchmark.apply();
        benchmark.fold(dir.resolve("steady"));
      }
      for (int round = 0; round < 2; round++) {
        benchmark.recover(dir.resolve("steady"));
      }
    } finally {
      try (var files = Files.walk(dir)) {
        files.sorted((a, b) -> b.compareTo(a)).forEach(path -> path.toFile().delete());
      }
    }
  }

  private void prepare(int count) {
    Workload workload = new Workload(1, 4096, new HostState());
    for (int i = 0; i < count; i++) {
      facts.add(workload.next(Samples.AT_MICROS + i));
    }
    RecordEncoder encoder = new RecordEncoder();
    long bytes = 0;
    for (Fact fact : facts) {
      bytes += encoder.fact(fact.position(), fact.atMicros(), fact.event());
    }
    System.out.printf(
        Locale.ROOT, "%,d facts, %d bytes a record on average%n", count, bytes / count);
  }

  /**
   * What the machine needs for the least that could be done: one copy and one sum of the same
   * bytes.
   */
  private void floor() {
    RecordEncoder encoder = new RecordEncoder();
    for (int round = 0; round < 3; round++) {
      long[] nanos = new long[facts.size()];
      CRC32C crc = new CRC32C();
      byte[] copy = new byte[1 << 20];
      for (int i = 0; i < nanos.length; i++) {
        Fact fact = facts.get(i);
        int length = encoder.fact(fact.position(), fact.atMicros(), fact.event());
        long start = System.nanoTime();
        crc.reset();
        crc.update(encoder.array(), 0, length);
        System.arraycopy(encoder.array(), 0, copy, 0, length);
        nanos[i] = System.nanoTime() - start;
      }
      if (round == 2) {
        print("floor: copy and CRC32C", nanos, nanos.length, 0);
      }
    }
  }

  private void append(String name, Path where, int perSecond, SyncMode sync) throws Exception {
    JournalOptions options =
        JournalOptions.DEFAULT.withSync(sync).withRetention(Retention.KEEP_ALL);
    Recovered recovered = Recovery.open(where, options, Samples.AT_MICROS);
    if (!(recovered instanceof Recovered.Opened(HostState _, Journal journal, RecoveryReport _))) {
      throw new IllegalStateException(recovered.toString());
    }
    long[] nanos = new long[facts.size()];
    long refusals = 0;
    long begin = System.nanoTime();
    try (journal) {
      for (int i = 0; i < nanos.length; i++) {
        Fact fact = facts.get(i);
        HostEvent event = fact.event();
        if (perSecond > 0) {
          long due = begin + i * 1_000_000_000L / perSecond;
          while (System.nanoTime() < due) {
            Thread.onSpinWait();
          }
        }
        while (!journal.hasRoom(1, 8192)) {
          refusals++;
          LockSupport.parkNanos(100_000);
        }
        long start = System.nanoTime();
        journal.append(fact.atMicros(), event);
        nanos[i] = System.nanoTime() - start;
      }
      long elapsed = System.nanoTime() - begin;
      print("append, " + name, nanos, nanos.length, elapsed);
      if (refusals > 0) {
        System.out.println("  waited for room " + refusals + " times");
      }
    }
  }

  private void decode(Path where) throws Exception {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    long read = 0;
    try (FactCursor cursor = JournalReader.open(where).from(1)) {
      while (cursor.next() == FactCursor.Step.FACT) {
        read++;
      }
    }
    rate("read and decode", read, start, cpu);
  }

  private void apply() {
    HostState state = new HostState();
    long cpu = THREADS.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    for (Fact fact : facts) {
      state.apply(fact, Effects.NONE);
    }
    rate("apply alone", facts.size(), start, cpu);
  }

  private void fold(Path where) throws Exception {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    Replay replay =
        Replayer.run(
            JournalReader.open(where),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    if (!replay.clean()) {
      throw new IllegalStateException(replay.ending().toString());
    }
    rate("fold with decoding and checks", replay.facts(), start, cpu);
  }

  /**
   * On a shared machine the rate for each second of processor time says more than the one by the
   * wall clock.
   */
  private static void rate(String name, long count, long startNanos, long startCpuNanos) {
    double wall = (System.nanoTime() - startNanos) / 1e9;
    double cpu = (THREADS.getCurrentThreadCpuTime() - startCpuNanos) / 1e9;
    System.out.printf(
        Locale.ROOT,
        "%s: %,.0f facts/s, %,.0f facts for each second of processor time%n",
        name,
        count / wall,
        count / cpu);
  }

  private void recover(Path where) throws Exception {
    long start = System.nanoTime();
    Recovered recovered =
        Recovery.open(
            where, JournalOptions.DEFAULT.withRetention(Retention.KEEP_ALL), Samples.AT_MICROS);
    double millis = (System.nanoTime() - start) / 1e6;
    if (recovered instanceof Recovered.Opened opened) {
      opened.journal().close();
      System.out.printf(Locale.ROOT, "recovery: %.0f ms, %s%n", millis, opened.report());
    }
  }

  private static void print(String name, long[] nanos, int count, long elapsed) {
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    System.out.printf(
        Locale.ROOT,
        "%s: p50 %d ns, p99 %d ns, p99.9 %d ns, p99.99 %d ns, max %.3f ms%s%n",
        name,
        sorted[count / 2],
        sorted[(int) (count * 0.99)],
        sorted[(int) (count * 0.999)],
        sorted[(int) (count * 0.9999)],
        sorted[count - 1] / 1e6,
        elapsed == 0 ? "" : String.format(Locale.ROOT, ", %,.0f facts/s", count * 1e9 / elapsed));
  }
}
