package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.Daemons;
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
import java.util.List;
import java.util.Random;

/**
 * The disk under the SSD tier fails, gives and takes too little, lies, loses bits, has no room and
 * hangs, under load. No wrong byte is ever restored; queries that need no disk do not wait for it;
 * all of it is reported; nothing stays reserved; the tier recovers by itself.
 */
public final class SsdFaultSuite {
  private static final int SLICES = 4;
  private static final int SLICE_MILLIS = 250;
  private static final int WARM_UP_MILLIS = 2_000;
  private static final int ILL_MILLIS = 10_000;
  private static final int WELL_MILLIS = 30_000;
  private static final int FLIPS = 200;

  private final Stage stage;
  private final DiskControl disk;
  private final Random random;
  private final Path cache;
  private long flipped;

  private SsdFaultSuite(Stage stage, DiskControl disk, Random random, Path cache) {
    this.stage = stage;
    this.disk = disk;
    this.random = random;
    this.cache = cache;
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
   * @param frozen the same of a file system that was frozen, or why it was not
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
      String frozen,
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
    Random random = new Random(seed);
    ManagerProcess manager = daemons.onDisk(disk).start(hot, flags(cache));
    try (Stage stage = new Stage(manager, seed)) {
      new SsdFaultSuite(stage, disk, random, cache).breakAll(hangSeconds);
      Replay replay = stage.end();
      String frozen =
          FrozenDisk.run(daemons, Files.createDirectory(dir.resolve("frozen")), hangSeconds, seed);
      ColdFaults.Report cold =
          ColdFaults.run(daemons, Files.createDirectory(dir.resolve("cold")), random);
      return report(stage, replay, frozen, cold);
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

  private static Report report(Stage stage, Replay replay, String frozen, ColdFaults.Report cold) {
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
        stage.measured(),
        stage.repeated(),
        stage.load.operations(),
        stage.load.promises(),
        degraded,
        recovered,
        failed,
        frozen,
        cold,
        replay.facts());
  }

  private void breakAll(int hangSeconds) throws IOException, InterruptedException {
    Thread.sleep(WARM_UP_MILLIS);
    inTurns(DiskFault.WRITES_FAIL, 3, "writeErrors", "orbitkv_ssd_write_errors_total");
    inTurns(DiskFault.SHORT_WRITES, 3, "writeErrors", "orbitkv_ssd_write_errors_total");
    inTurns(DiskFault.READS_FAIL, 2, "readErrors", "orbitkv_ssd_read_errors_total");
    inTurns(DiskFault.SHORT_READS, 2, "readErrors", "orbitkv_ssd_read_errors_total");
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
    long reported = stage.probe.figure(figure);
    stage.measure(
        "every %d. %s".formatted(every, fault),
        disk::injected,
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          for (int slice = 0; slice < SLICES; slice++) {
            stage.watch(sound, SLICE_MILLIS);
            disk.set(fault, every);
            stage.watch(faulty, SLICE_MILLIS);
            disk.set(DiskFault.NONE, 1);
          }
          return new Latencies[] {sound, faulty};
        });
    settle(fault.name(), figure, reported, metric);
  }

  /** Not the disk's operations but what lies on it. */
  private void flippedBits() throws IOException, InterruptedException {
    long reported = stage.probe.figure("verifyFailures");
    stage.measure(
        "flipped bits",
        () -> flipped,
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          for (int slice = 0; slice < SLICES; slice++) {
            stage.watch(sound, SLICE_MILLIS);
            CacheFile.flipSome(cache, FLIPS, random);
            flipped += FLIPS;
            stage.watch(faulty, SLICE_MILLIS);
          }
          return new Latencies[] {sound, faulty};
        });
    settle("flipped bits", "verifyFailures", reported, "orbitkv_ssd_verify_failures_total");
  }

  private void settle(String fault, String figure, long reported, String metric)
      throws IOException, InterruptedException {
    try {
      stage.probe.awaitGrowth(figure, reported, metric);
      stage.probe.awaitWell(WELL_MILLIS);
      stage.drain();
    } catch (AssertionError broken) {
      throw new AssertionError(fault + ": " + broken.getMessage(), broken);
    }
  }

  // ---- faults that stay
  // --------------------------------------------------------------------------------------------

  private void forSomeTime(DiskFault fault, int seconds, String words)
      throws IOException, InterruptedException {
    stage.measure(
        fault + " for " + seconds + " s",
        disk::injected,
        () -> {
          Latencies sound = new Latencies();
          Latencies faulty = new Latencies();
          stage.watch(sound, seconds * 500);
          disk.set(fault, 1);
          long operations = stage.load.operations();
          try {
            stage.watch(faulty, seconds * 1_000);
            stage.probe.awaitIll(words, ILL_MILLIS);
            if (stage.load.operations() == operations) {
              throw new AssertionError("nothing was served any more");
            }
          } finally {
            disk.set(DiskFault.NONE, 1);
          }
          stage.probe.awaitWell(WELL_MILLIS);
          stage.watch(sound, seconds * 500);
          return new Latencies[] {sound, faulty};
        });
    stage.expectTierAtWork();
    stage.drain();
  }
}
