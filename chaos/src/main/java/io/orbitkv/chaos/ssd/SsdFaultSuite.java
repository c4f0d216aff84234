package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.crash.Load;
import io.orbitkv.chaos.crash.LoadMix;
import io.orbitkv.chaos.fault.DiskControl;
import io.orbitkv.chaos.fault.DiskFault;
import io.orbitkv.journal.Replay;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.SsdCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The disk under the SSD tier fails, gives and takes too little, lies, loses bits, has no room and
 * hangs, under load. No wrong byte is ever restored; queries that need no disk do not wait for it;
 * all of it is reported; nothing stays reserved; the tier recovers by itself.
 */
public final class SsdFaultSuite {
  private static final int CLIENTS = 2;
  private static final int SLICES = 4;
  private static final int SLICE_MILLIS = 250;
  private static final int MEASURED_AGAIN = 5;
  private static final double MOST_RATIO = 2;
  private static final int WARM_UP_MILLIS = 2_000;
  private static final int ILL_MILLIS = 10_000;
  private static final int WELL_MILLIS = 30_000;
  private static final int FLIPS = 200;

  /** Somewhat more than SSD has room for, much more than memory has. */
  private static final LoadMix MIX = new LoadMix(100, 2_000, 1);

  private final ManagerProcess manager;
  private final DiskControl disk;
  private final Load load;
  private final Steady steady;
  private final TierProbe probe;
  private final Random random;
  private final Path cache;
  private final List<Measured> measured = new ArrayList<>();
  private int repeated;
  private long flipped;

  private SsdFaultSuite(
      ManagerProcess manager, DiskControl disk, Load load, Steady steady, Path cache, long seed)
      throws IOException {
    this.manager = manager;
    this.disk = disk;
    this.load = load;
    this.steady = steady;
    this.cache = cache;
    this.probe = new TierProbe(manager);
    this.random = new Random(seed);
  }

  /**
   * Queries that need no disk, while the disk works and while it does not, in turns.
   *
   * @param fault what the disk did
   * @param injected how many of its operations went wrong
   */
  record Measured(String fault, long injected, double soundP99Micros, double faultyP99Micros) {
    double ratio() {
      return faultyP99Micros / soundP99Micros;
    }

    @Override
    public String toString() {
      return "%s: %d times, p99 %.0f to %.0f us (%.2f)"
          .formatted(fault, injected, soundP99Micros, faultyP99Micros, ratio());
    }
  }

  /**
   * What was done and seen.
   *
   * @param measured for each fault how often it struck, and the p99 of queries that need no disk
   *     without and with it
   * @param repeated how often one of these had to be measured again, because the machine was busy
   *     otherwise
   * @param operations requests of the load that were completed
   * @param promises facts that clients were told of and that were found in the journal
   * @param degraded how often the tier said that it was ill
   * @param recovered how often it said that it was well again
   * @param failedBlocks blocks that did not come back from SSD, and were misses
   * @param cold what was found after bits were flipped between two runs
   * @param facts facts in the journal
   */
  public record Report(
      List<String> measured,
      int repeated,
      long operations,
      long promises,
      long degraded,
      long recovered,
      long failedBlocks,
      ColdFaults.Report cold,
      long facts) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path, on the disk that the tier is tried on
   * @param hangSeconds how long the disk hangs
   * @throws AssertionError naming the fault and what did not hold
   */
  public static Report run(Daemons daemons, Path dir, int hangSeconds, long seed)
      throws IOException, InterruptedException {
    Path hot = Files.createDirectory(dir.resolve("hot"));
    Path cache = hot.resolve("cache.ssd");
    DiskControl disk = DiskControl.open(dir.resolve("disk"));
    ManagerProcess manager = daemons.onDisk(disk).start(hot, flags(cache));
    try {
      SsdFaultSuite suite;
      try (Steady steady = new Steady(manager.socket());
          Load load = new Load(manager.socket(), manager.journal(), CLIENTS, MIX, seed)) {
        Thread thread = Thread.ofPlatform().daemon().name("steady").start(steady);
        suite = new SsdFaultSuite(manager, disk, load, steady, cache, seed);
        suite.breakAll(hangSeconds);
        load.stop();
        steady.stop();
        thread.join(10_000);
        steady.check("at the end");
      }
      suite.probe.awaitEmpty();
      manager.close();
      suite.load.checkJournal("the end");
      Replay replay = suite.load.fold(manager.journal());
      ColdFaults.Report cold =
          ColdFaults.run(daemons, Files.createDirectory(dir.resolve("cold")), suite.random);
      return suite.report(replay, cold);
    } finally {
      manager.close();
    }
  }

  static List<String> flags(Path cache) {
    return List.of(
        "--pool-size",
        "4mb",
        "--ssd-cache-path",
        cache.toString(),
        "--ssd-cache-capacity",
        "16mb",
        "--ssd-hang",
        "500ms",
        "--digest-every",
        "1000",
        "--http-addr",
        "127.0.0.1:0");
  }

  private Report report(Replay replay, ColdFaults.Report cold) {
    Totals totals = replay.state().totals();
    long degraded = totals.get(SsdCounter.DEGRADED);
    long recovered = totals.get(SsdCounter.RECOVERED);
    if (degraded == 0 || degraded != recovered) {
      throw new AssertionError(
          "the journal has the tier ill %d times and well again %d times"
              .formatted(degraded, recovered));
    }
    long failed = 0;
    for (LoadFailure reason : LoadFailure.values()) {
      failed += totals.loadsFailed(reason);
    }
    return new Report(
        measured.stream().map(Measured::toString).toList(),
        repeated,
        load.operations(),
        load.promises(),
        degraded,
        recovered,
        failed,
        cold,
        replay.facts());
  }

  private void breakAll(int hangSeconds) throws IOException, InterruptedException {
    Thread.sleep(WARM_UP_MILLIS);
    inTurns(DiskFault.WRITES_FAIL, 3, "writeErrors", "orbitkv_ssd_write_errors");
    inTurns(DiskFault.SHORT_WRITES, 3, "writeErrors", "orbitkv_ssd_write_errors");
    inTurns(DiskFault.READS_FAIL, 2, "readErrors", "orbitkv_ssd_read_errors");
    inTurns(DiskFault.SHORT_READS, 2, "readErrors", "orbitkv_ssd_read_errors");
    inTurns(DiskFault.TORN_WRITES, 5, "verifyFailures", "orbitkv_ssd_verify_failures_total");
    inTurns(DiskFault.LOST_WRITES, 5, "verifyFailures", "orbitkv_ssd_verify_failures_total");
    flippedBits();
    forSomeTime(DiskFault.WRITES_FAIL, 2, "the SSD tier takes no writes: they fail");
    forSomeTime(DiskFault.NO_SPACE, 2, "the SSD tier takes no writes: no room on the disk");
    forSomeTime(DiskFault.HANGS, hangSeconds, "the SSD tier's disk hangs");
  }

  // ---- faults that come and go
  // -------------------------------------------------------------------------------------

  private void inTurns(DiskFault fault, int every, String figure, String metric)
      throws IOException, InterruptedException {
    long reported = probe.figure(figure);
    measure(
        "every %d. %s".formatted(every, fault),
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          for (int slice = 0; slice < SLICES; slice++) {
            watch(sound, SLICE_MILLIS);
            disk.set(fault, every);
            watch(faulty, SLICE_MILLIS);
            disk.set(DiskFault.NONE, 1);
          }
          return new Latencies[] {sound, faulty};
        });
    settle(fault.name(), figure, reported, metric);
  }

  /** Not the disk's operations but what lies on it. */
  private void flippedBits() throws IOException, InterruptedException {
    long reported = probe.figure("verifyFailures");
    measure(
        "flipped bits",
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          for (int slice = 0; slice < SLICES; slice++) {
            watch(sound, SLICE_MILLIS);
            CacheFile.flipSome(cache, FLIPS, random);
            flipped += FLIPS;
            watch(faulty, SLICE_MILLIS);
          }
          return new Latencies[] {sound, faulty};
        });
    settle("flipped bits", "verifyFailures", reported, "orbitkv_ssd_verify_failures_total");
  }

  private void settle(String fault, String figure, long reported, String metric)
      throws IOException, InterruptedException {
    try {
      probe.awaitGrowth(figure, reported, metric);
      probe.awaitWell(WELL_MILLIS);
      drain();
    } catch (AssertionError broken) {
      throw new AssertionError(fault + ": " + broken.getMessage(), broken);
    }
  }

  // ---- faults that stay
  // --------------------------------------------------------------------------------------------

  private void forSomeTime(DiskFault fault, int seconds, String words)
      throws IOException, InterruptedException {
    measure(
        fault + " for " + seconds + " s",
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          watch(sound, seconds * 500);
          disk.set(fault, 1);
          long operations = load.operations();
          try {
            watch(faulty, seconds * 1_000);
            probe.awaitIll(words, ILL_MILLIS);
            if (load.operations() == operations) {
              throw new AssertionError("nothing was served any more");
            }
          } finally {
            disk.set(DiskFault.NONE, 1);
          }
          probe.awaitWell(WELL_MILLIS);
          watch(sound, seconds * 500);
          return new Latencies[] {sound, faulty};
        });
    long written = probe.figure("writtenBytes");
    long read = probe.figure("readBytes");
    probe.awaitGrowth("writtenBytes", written, "orbitkv_ssd_device_written_bytes_total");
    probe.awaitGrowth("readBytes", read, "orbitkv_ssd_device_read_bytes_total");
    drain();
  }

  // ---- measuring
  // ---------------------------------------------------------------------------------------------------

  /** Plays a fault; what its queries took without it and with it. */
  private interface Play {
    Latencies[] run() throws IOException, InterruptedException;
  }

  /**
   * Measures until one measurement is within the limit: whatever else runs on the machine only adds
   * to what is seen.
   */
  private void measure(String fault, Play play) throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      long before = disk.injected() + flipped;
      Measured one;
      try {
        Latencies[] seen = play.run();
        long struck = disk.injected() + flipped - before;
        one = new Measured(fault, struck, seen[0].p99Micros(), seen[1].p99Micros());
        if (seen[0].count() == 0 || seen[1].count() == 0 || struck == 0) {
          throw new AssertionError("nothing was tried: " + one);
        }
      } catch (AssertionError broken) {
        throw new AssertionError(fault + ": " + broken.getMessage(), broken);
      }
      Progress.say(one);
      if (one.ratio() <= MOST_RATIO) {
        measured.add(one);
        return;
      }
      if (attempt == MEASURED_AGAIN) {
        throw new AssertionError(
            "queries that need no disk waited, " + attempt + " times measured: " + one);
      }
      repeated++;
    }
  }

  private void watch(Latencies into, int millis) throws InterruptedException {
    var _ = steady.take();
    Thread.sleep(millis);
    into.add(steady.take());
    steady.check("a faulty disk");
    load.check("a faulty disk");
    if (!manager.isAlive()) {
      throw new AssertionError("the daemon died; see " + manager.log());
    }
  }

  private void drain() throws IOException, InterruptedException {
    load.pause();
    Thread.sleep(5);
    probe.awaitDrained();
    load.resume();
  }
}
