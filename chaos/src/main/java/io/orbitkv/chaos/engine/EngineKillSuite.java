package io.orbitkv.chaos.engine;

import io.orbitkv.chaos.Operator;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostState;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * {@code kill -9} of an engine in the middle of publishes, restores and queries. Within two seconds
 * the daemon holds nothing of it any more; at the end the journal folds and nothing is open in it.
 */
public final class EngineKillSuite {
  private static final List<String> MOMENTS = List.of(Victim.QUERY, Victim.RESTORE, Victim.PUBLISH);
  private static final int MAX_OPERATIONS = 6;

  /** From the beginning of an operation to the kill; most copies last about as long. */
  private static final int MAX_DELAY_MICROS = 5_000;

  private static final long DRAIN_MILLIS = 2_000;
  private static final int WARM_UP_KILLS = 2;
  private static final List<String> FLAGS =
      List.of("--pool-size", "128mb", "--inline-copy", "4kb", "--http-addr", "127.0.0.1:0");

  private EngineKillSuite() {}

  /**
   * What was done and seen.
   *
   * @param kills engines killed
   * @param baseline what the daemon held before, after its own warm-up
   * @param after what it held after the last kill
   * @param slowestDrainMillis longest time from a kill until nothing was left
   * @param facts facts in the journal
   * @param publishesAborted publishes that a kill ended
   * @param restoresCut restores that a kill ended
   */
  public record Report(
      int kills,
      Residue baseline,
      Residue after,
      long slowestDrainMillis,
      long facts,
      long publishesAborted,
      long restoresCut) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   * @throws AssertionError naming what was left behind
   */
  public static Report run(Path dir, int kills, long seed)
      throws IOException, InterruptedException {
    Random random = new Random(seed);
    long slowestDrain = 0;
    ManagerProcess manager = ManagerProcess.start(dir, FLAGS, List.of());
    try {
      for (int i = 0; i < WARM_UP_KILLS; i++) {
        killOne(manager, random);
      }
      Thread.sleep(DRAIN_MILLIS);
      Residue baseline = Residue.settled(manager);
      if (baseline.sessions() != 0) {
        throw new AssertionError("sessions of dead engines are open: " + baseline);
      }
      Residue after = baseline;
      for (int kill = 0; kill < kills; kill++) {
        killOne(manager, random);
        long start = System.nanoTime();
        long deadline = start + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
        for (after = Residue.of(manager); !after.within(baseline); after = Residue.of(manager)) {
          if (System.nanoTime() > deadline) {
            throw new AssertionError(
                "seed %d, kill %d: left behind after %d ms: %s, was %s"
                    .formatted(seed, kill, DRAIN_MILLIS, after, baseline));
          }
          Thread.sleep(10);
        }
        slowestDrain =
            Math.max(slowestDrain, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
      }
      Operator operator = Operator.of(manager);
      if (operator.evictAll() == 0) {
        throw new AssertionError("seed " + seed + ": nothing was published, nothing was tested");
      }
      if (operator.poolUsedBytes() != 0) {
        throw new AssertionError(
            "seed " + seed + ": extents of nobody: " + operator.poolUsedBytes());
      }
      manager.close();
      Replay replay =
          Replayer.run(
              JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
      if (!replay.clean()) {
        throw new AssertionError("seed " + seed + ": the journal does not fold: " + replay);
      }
      HostState state = replay.state();
      if (state.openLeases() + state.openTickets() + state.openPublishes() + state.openRestores()
          != 0) {
        throw new AssertionError("seed " + seed + ": something is open at the end of the journal");
      }
      return new Report(
          kills,
          baseline,
          after,
          slowestDrain,
          replay.facts(),
          state.totals().publishesAborted(AbortReason.SESSION_CLOSED),
          state.totals().restoresFinished(RestoreOutcome.CANCELLED));
    } finally {
      manager.close();
    }
  }

  private static void killOne(ManagerProcess manager, Random random)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home", ""), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "-cp",
            System.getProperty("java.class.path", ""),
            Victim.class.getName(),
            manager.socket(),
            Long.toString(random.nextLong())));
    Process engine = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader output = engine.inputReader()) {
      String what = MOMENTS.get(random.nextInt(MOMENTS.size()));
      for (int left = 1 + random.nextInt(MAX_OPERATIONS); left > 0; ) {
        String line = output.readLine();
        if (line == null || !MOMENTS.contains(line)) {
          throw new AssertionError("the engine ended by itself: " + line);
        }
        left -= line.equals(what) ? 1 : 0;
      }
      TimeUnit.MICROSECONDS.sleep(random.nextInt(MAX_DELAY_MICROS));
      if (!engine.isAlive()) {
        throw new AssertionError("the engine ended by itself: " + output.readLine());
      }
    } finally {
      engine.destroyForcibly();
      engine.waitFor();
    }
  }
}
