package io.orbitkv.chaos.crash;

import io.orbitkv.journal.Replay;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * {@code kill -9} of a daemon at random moments under load, again and again on one journal. After
 * each kill: every fact that a client was told of stands in the journal. After each start: every
 * client is back by itself, and nothing of the dead epoch is honoured. At the end the whole journal
 * folds, with every recorded digest equal.
 */
public final class CrashSuite {
  private static final int CLIENTS = 3;
  private static final int MAX_LIFE_MILLIS = 400;
  private static final long RETURN_MILLIS = 15_000;
  private static final List<String> FLAGS =
      List.of("--pool-size", "2mb", "--digest-every", "1000", "--journal-part-size", "2mb");

  private CrashSuite() {}

  /**
   * What was done and seen.
   *
   * @param kills how many daemons were killed
   * @param operations requests that clients completed
   * @param promises facts that clients were told of and that were found in the journal
   * @param facts facts in the journal at the end
   * @param deadRefused uses of a dead epoch's lease that were refused
   * @param medianStartMillis median time from the start of a process to its first answer
   * @param slowestStartMillis longest of them
   * @param slowestReturnMillis longest time from that answer until every client had a lease again
   * @param digestsVerified recorded digests that the final fold agreed with
   */
  public record Report(
      int kills,
      long operations,
      long promises,
      long facts,
      long deadRefused,
      long medianStartMillis,
      long slowestStartMillis,
      long slowestReturnMillis,
      long digestsVerified) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   * @throws AssertionError naming the kill and the promise that did not hold
   */
  public static Report run(Path dir, int kills, long seed)
      throws IOException, InterruptedException {
    Random random = new Random(seed);
    List<Long> starts = new ArrayList<>();
    long slowestReturn = 0;
    ManagerProcess manager = ManagerProcess.start(dir, FLAGS, List.of());
    try (Load load = new Load(manager.socket(), manager.journal(), CLIENTS, seed)) {
      for (int kill = 0; kill < kills; kill++) {
        slowestReturn = Math.max(slowestReturn, awaitReturn(load, kill));
        Thread.sleep(random.nextInt(MAX_LIFE_MILLIS));
        manager.kill();
        load.check("kill " + kill);
        load.checkJournal("kill " + kill);
        manager = ManagerProcess.start(dir, FLAGS, List.of());
        starts.add(TimeUnit.NANOSECONDS.toMillis(manager.startNanos()));
      }
      slowestReturn = Math.max(slowestReturn, awaitReturn(load, kills));
      load.stop();
      manager.close();
      load.checkJournal("the end");
      Replay replay = load.fold(manager.journal());
      starts.sort(Long::compare);
      return new Report(
          kills,
          load.operations(),
          load.promises(),
          replay.facts(),
          load.deadRefused(),
          starts.get(starts.size() / 2),
          starts.getLast(),
          slowestReturn,
          replay.digestsVerified());
    } finally {
      manager.close();
    }
  }

  /**
   * Waits until every client was granted a lease in the running epoch; returns how long it took.
   */
  private static long awaitReturn(Load load, int epochsBefore) throws InterruptedException {
    long start = System.nanoTime();
    long deadline = start + TimeUnit.MILLISECONDS.toNanos(RETURN_MILLIS);
    while (load.servedEpoch() <= epochsBefore) {
      load.check("kill " + epochsBefore);
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "kill %d: a client was not served again within %d ms"
                .formatted(epochsBefore, RETURN_MILLIS));
      }
      Thread.sleep(2);
    }
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }
}
