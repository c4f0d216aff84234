package io.orbitkv.chaos.engine;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Operator;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.engine.Victim.Work;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostState;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * {@code kill -9} of an engine in the middle of a publish, a restore or a waiting query. Within two
 * seconds the daemon holds nothing of it any more, and an honest engine beside it notices nothing;
 * at the end the journal folds and nothing is open in it.
 *
 * <p>Copies of 128 MiB by one worker last far longer than it takes to end a process, so that many
 * kills cut one off. The journal says which did: a run of twelve kills or more fails if none of a
 * kind was cut off.
 */
public final class EngineKillSuite {
  private static final List<Work> WORKS = List.of(Work.values());
  private static final int MAX_OPERATIONS = 3;
  private static final long DRAIN_MILLIS = 2_000;
  private static final int WARM_UP_KILLS = 3;

  /** In so many kills at least one of each kind has to be cut off. */
  private static final int KILLS_THAT_CUT = 12;

  private static final List<String> FLAGS =
      List.of(
          "--pool-size",
          "640mb",
          "--copy-workers",
          "1",
          "--unsealed-ttl",
          "10m",
          "--http-addr",
          "127.0.0.1:0");

  private EngineKillSuite() {}

  /**
   * What was done and seen.
   *
   * @param kills engines killed, besides those of the warm-up, which count in what was cut off
   * @param publishesAborted publishes that were cut off in their copy
   * @param restoresCancelled restores that were cut off in their copy
   * @param queriesClosed waiting queries that were cut off
   * @param leasesClosed leases that dead engines had left open
   * @param baseline what the daemon held before, after its own warm-up
   * @param after what it held after the last kill
   * @param slowestDrainMillis longest time from a kill until nothing was left
   * @param bystanderRounds publish, query, restore and comparison of an honest engine
   * @param facts facts in the journal
   */
  public record Report(
      int kills,
      long publishesAborted,
      long restoresCancelled,
      long queriesClosed,
      long leasesClosed,
      Residue baseline,
      Residue after,
      long slowestDrainMillis,
      long bystanderRounds,
      long facts) {
    private boolean cutSomeOfEach() {
      return publishesAborted > 0 && restoresCancelled > 0 && queriesClosed > 0 && leasesClosed > 0;
    }
  }

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   * @throws AssertionError naming what was left behind, or that nothing was cut off
   */
  public static Report run(Daemons daemons, Path dir, int kills, long seed)
      throws IOException, NativeException, InterruptedException {
    Random random = new Random(seed);
    ManagerProcess manager = daemons.start(dir, FLAGS);
    try (Bystander bystander = new Bystander(manager.socket());
        Halves half = Halves.connect(manager.socket(), "half", 0)) {
      half.publish();
      Thread thread = Thread.ofPlatform().daemon().name("bystander").start(bystander);
      for (int i = 0; i < WARM_UP_KILLS; i++) {
        killOne(manager, WORKS.get(i), random);
      }
      Thread.sleep(DRAIN_MILLIS);
      Residue baseline = Residue.settled(manager);
      if (baseline.sessions() != 2) {
        throw new AssertionError("sessions of dead engines are open: " + baseline);
      }
      Residue after = baseline;
      long slowestDrain = 0;
      for (int kill = 0; kill < kills; kill++) {
        Progress.step("engine kills", kill, kills);
        String when = "seed %d, kill %d".formatted(seed, kill);
        try {
          killOne(manager, WORKS.get(kill % WORKS.size()), random);
          long start = System.nanoTime();
          after = drained(manager, baseline, bystander, when);
          slowestDrain =
              Math.max(slowestDrain, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        } catch (IOException | RuntimeException failed) {
          throw new AssertionError(
              when + (manager.isAlive() ? "" : ": the daemon died; see " + manager.log()), failed);
        }
        bystander.check(when);
      }
      bystander.stop();
      thread.join(10_000);
      bystander.check("at the end");
      try (Halves other = Halves.connect(manager.socket(), "half", 1)) {
        other.publish();
      }
      leavesNothing(manager, seed);
      HostState state = fold(manager, seed);
      Report report =
          new Report(
              kills,
              state.totals().publishesAborted(AbortReason.SESSION_CLOSED),
              state.totals().restoresFinished(RestoreOutcome.CANCELLED),
              state.totals().ticketsClosed(TicketEnd.SESSION_CLOSED),
              state.totals().leasesEnded(LeaseEnd.SESSION_CLOSED),
              baseline,
              after,
              slowestDrain,
              bystander.rounds(),
              state.position());
      if (kills >= KILLS_THAT_CUT && !report.cutSomeOfEach()) {
        throw new AssertionError("seed " + seed + ": some kind was never cut off: " + report);
      }
      return report;
    } finally {
      manager.close();
    }
  }

  /** Waits until nothing of a dead engine is held any more. */
  private static Residue drained(
      ManagerProcess manager, Residue baseline, Bystander bystander, String when)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
    while (true) {
      bystander.check(when);
      Residue now = Residue.of(manager);
      if (now.within(baseline)) {
        return now;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "%s: left behind after %d ms: %s, was %s".formatted(when, DRAIN_MILLIS, now, baseline));
      }
      Thread.sleep(5);
    }
  }

  private static void leavesNothing(ManagerProcess manager, long seed) throws IOException {
    Operator operator = Operator.of(manager);
    if (operator.evictAll() == 0) {
      throw new AssertionError("seed " + seed + ": nothing was published, nothing was tested");
    }
    if (operator.poolUsedBytes() != 0) {
      throw new AssertionError("seed " + seed + ": extents of nobody: " + operator.poolUsedBytes());
    }
  }

  private static HostState fold(ManagerProcess manager, long seed) throws IOException {
    manager.close();
    Replay replay =
        Replayer.run(JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
    if (!replay.clean()) {
      throw new AssertionError("seed " + seed + ": the journal does not fold: " + replay);
    }
    HostState state = replay.state();
    if (state.openLeases() + state.openTickets() + state.openPublishes() + state.openRestores()
        != 0) {
      throw new AssertionError("seed " + seed + ": something is open at the end of the journal");
    }
    return state;
  }

  /** Starts an engine and ends it somewhere within its first, second or third operation. */
  private static void killOne(ManagerProcess manager, Work work, Random random)
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
            work.name(),
            manager.socket(),
            Long.toString(random.nextLong())));
    Process engine = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader output = engine.inputReader()) {
      long lastMicros = 0;
      // Only a restore's first copy lasts long: the pages are new to the daemon.
      int operations = work == Work.RESTORE ? 1 : 1 + random.nextInt(MAX_OPERATIONS);
      for (int left = operations; left > 0; left--) {
        String line = output.readLine();
        if (line == null || !line.startsWith(work.name())) {
          throw new AssertionError("the engine ended by itself: " + line);
        }
        lastMicros = Long.parseLong(line.substring(work.name().length() + 1));
      }
      TimeUnit.MICROSECONDS.sleep(random.nextLong(lastMicros + 1));
      if (!engine.isAlive()) {
        throw new AssertionError("the engine ended by itself: " + output.readLine());
      }
    } finally {
      engine.destroyForcibly();
      engine.waitFor();
    }
  }
}
