package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Progress;
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

  /** From the moment of serving to the kill. */
  private static final int MAX_LIFE_MILLIS = 1_500;

  /**
   * Every so many kills comes before the clients are back, and as often before the daemon serves.
   */
  private static final int EARLY_EVERY = 8;

  private static final int MAX_EARLY_MILLIS = 150;
  private static final long RETURN_MILLIS = 15_000;
  private static final List<String> FLAGS =
      List.of("--pool-size", "2mb", "--digest-every", "1000", "--journal-part-size", "2mb");

  private CrashSuite() {}

  /**
   * What was done and seen.
   *
   * @param kills how many daemons were killed
   * @param killsBeforeServing those of them that were still starting
   * @param killsBeforeReturn those of them that served, but not every client yet
   * @param operations requests that clients completed
   * @param pythonOperations those of them of the engine with the Python client, 0 where there is
   *     none
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
      int killsBeforeServing,
      int killsBeforeReturn,
      long operations,
      long pythonOperations,
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
  public static Report run(Daemons daemons, Path dir, int kills, long seed)
      throws IOException, InterruptedException {
    Random random = new Random(seed);
    List<Long> starts = new ArrayList<>();
    long slowestReturn = 0;
    int beforeServing = 0;
    int beforeReturn = 0;
    ManagerProcess manager = daemons.start(dir, FLAGS);
    try (Load load = new Load(manager.socket(), manager.journal(), CLIENTS, seed)) {
      boolean python = load.addPython(manager.socket(), dir);
      for (int kill = 0; kill < kills; kill++) {
        Progress.step("kills", kill, kills);
        if (kill % EARLY_EVERY == EARLY_EVERY - 1) {
          beforeReturn++;
          Thread.sleep(random.nextInt(MAX_EARLY_MILLIS));
        } else {
          slowestReturn = Math.max(slowestReturn, awaitReturn(load, manager, kill));
          Thread.sleep(random.nextInt(MAX_LIFE_MILLIS));
        }
        kill(manager, load, kill);
        if (kill % EARLY_EVERY == EARLY_EVERY / 2 && kill + 1 < kills) {
          beforeServing++;
          kill++;
          manager = daemons.launch(dir, FLAGS);
          Thread.sleep(random.nextInt((int) median(starts, MAX_LIFE_MILLIS)));
          kill(manager, load, kill);
        }
        manager = daemons.start(dir, FLAGS);
        starts.add(TimeUnit.NANOSECONDS.toMillis(manager.startNanos()));
      }
      slowestReturn = Math.max(slowestReturn, awaitReturn(load, manager, kills));
      load.stop();
      manager.close();
      load.checkJournal("the end");
      if (python && load.pythonOperations() == 0) {
        throw new AssertionError("the engine with the Python client did nothing");
      }
      Replay replay = load.fold(manager.journal());
      return new Report(
          kills,
          beforeServing,
          beforeReturn,
          load.operations(),
          load.pythonOperations(),
          load.promises(),
          replay.facts(),
          load.deadRefused(),
          median(starts, 0),
          starts.stream().mapToLong(Long::longValue).max().orElse(0),
          slowestReturn,
          replay.digestsVerified());
    } finally {
      manager.close();
    }
  }

  private static void kill(ManagerProcess manager, Load load, int kill) throws IOException {
    manager.kill();
    load.check("kill " + kill);
    load.checkJournal("kill " + kill);
  }

  private static long median(List<Long> millis, long ofNone) {
    return millis.isEmpty()
        ? ofNone
        : millis.stream().sorted().skip(millis.size() / 2).findFirst().orElse(ofNone);
  }

  /**
   * Waits until every client was granted a lease in the running epoch; returns how long it took.
   */
  private static long awaitReturn(Load load, ManagerProcess manager, int kill)
      throws InterruptedException {
    long start = System.nanoTime();
    long deadline = start + TimeUnit.MILLISECONDS.toNanos(RETURN_MILLIS);
    long epoch = manager.health().epoch();
    while (load.servedEpoch() < epoch) {
      load.check("kill " + kill);
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "kill %d: a client was not served again within %d ms".formatted(kill, RETURN_MILLIS));
      }
      Thread.sleep(2);
    }
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }
}
