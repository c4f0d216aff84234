package io.orbitkv.chaos.disk;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Operator;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.crash.Load;
import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.journal.Replay;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The journal's disk fills up under load, and empties again. While it is full: publishes and
 * queries are refused with JOURNAL_FULL and nothing is promised, leases can be given back, the
 * daemon says what it lacks. When there is room again, everybody is served by itself. The last time
 * the daemon is killed while the disk is full. Nothing told is missing from the fold.
 */
public final class FullDiskSuite {
  private static final int CLIENTS = 2;
  private static final int BLOCKS = 4;
  private static final long LIMIT_MILLIS = 60_000;
  private static final List<String> FLAGS =
      List.of("--pool-size", "2mb", "--journal-part-size", "1mb", "--http-addr", "127.0.0.1:0");

  private FullDiskSuite() {}

  /**
   * What was done and seen.
   *
   * @param fills how often the disk was filled
   * @param promises facts that clients were told of and that were found in the journal
   * @param facts facts in the journal
   * @param slowestResumeMillis longest time from the space's return until everybody was served
   */
  public record Report(int fills, long promises, long facts, long slowestResumeMillis) {}

  /**
   * Runs the suite.
   *
   * @param dir a folder with a short path
   * @param disk mounted at {@code dir/journal}
   */
  public static Report run(Daemons daemons, Path dir, Tmpfs disk, int fills, long seed)
      throws IOException, InterruptedException {
    long slowestResume = 0;
    ManagerProcess manager = daemons.start(dir, FLAGS);
    try (Load load = new Load(manager.socket(), manager.journal(), CLIENTS, seed)) {
      await("clients to work", manager, load, () -> load.leastOperations() > 10);
      for (int fill = 0; fill < fills; fill++) {
        Progress.step("fills", fill, fills);
        try (Engine engine =
            Engine.connect(
                manager.socket(), new EngineShape("prober", "probe", 2, 1024, 16, 2 * BLOCKS))) {
          long refused = probe(manager, load, disk, engine);
          slowestResume = Math.max(slowestResume, resume(manager, load, disk, engine, refused));
        }
      }
      long full = load.leastJournalFull();
      disk.fill();
      await("refusals", manager, load, () -> load.leastJournalFull() > full);
      manager.kill();
      load.check("the kill on a full disk");
      load.checkJournal("the kill on a full disk");
      disk.free();
      manager = daemons.start(dir, FLAGS);
      long before = load.leastOperations();
      await("clients to return", manager, load, () -> load.leastOperations() > before + 10);
      load.stop();
      manager.close();
      if (manager.exitCode() != 0) {
        throw new AssertionError("the daemon ended with " + manager.exitCode());
      }
      load.checkJournal("the end");
      Replay replay = load.fold(manager.journal());
      return new Report(fills + 1, load.promises(), replay.facts(), slowestResume);
    } finally {
      manager.close();
    }
  }

  private static long probe(ManagerProcess manager, Load load, Tmpfs disk, Engine engine)
      throws IOException, InterruptedException {
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, i);
    }
    PublishRequest publish =
        new PublishRequest(0, "p", engine.keys(0, BLOCKS), IntRun.range(0, BLOCKS));
    if (!(engine.client().publish(publish) instanceof PublishResult.Published)
        || !(engine.client().query(query(engine, 0))
            instanceof QueryResult.Ready(Lease lease, _))) {
      throw new AssertionError("the prober was not served while there was room");
    }
    long full = load.leastJournalFull();
    disk.fill();
    await("refusals", manager, load, () -> load.leastJournalFull() > full);
    Operator operator = Operator.of(manager);
    await("health to say so", manager, load, () -> degraded(operator));
    long refused = publishUntilRefused(engine);
    if (!(engine.client().query(query(engine, 0)) instanceof QueryResult.Refused(Refusal noLease))
        || !noLease.is(RefusalCode.JOURNAL_FULL)) {
      throw new AssertionError("a lease was granted that the journal has no room for");
    }
    if (!(engine.client().discover(query(engine, 0)) instanceof QueryResult.Discovered)) {
      throw new AssertionError("what promises nothing was refused");
    }
    if (!(engine.client().release(lease) instanceof Answer.Ok<Boolean>(Boolean wasOpen))
        || !wasOpen) {
      throw new AssertionError("a lease could not be given back");
    }
    if (!manager.isAlive()) {
      throw new AssertionError("the daemon died of a full disk; see " + manager.log());
    }
    load.check("a full disk");
    return refused;
  }

  /** Small requests still fit when large ones do not; returns the first block that was refused. */
  private static long publishUntilRefused(Engine engine) {
    for (long first = 1_000; first < 1_000_000; first += BLOCKS) {
      PublishRequest another =
          new PublishRequest(0, "q", engine.keys(first, BLOCKS), IntRun.range(0, BLOCKS));
      if (engine.client().publish(another) instanceof PublishResult.Refused(Refusal refusal)) {
        if (!refusal.is(RefusalCode.JOURNAL_FULL) || refusal.category() != Category.RESOURCE) {
          throw new AssertionError("a full journal was answered with " + refusal);
        }
        return first;
      }
    }
    throw new AssertionError("a full disk takes facts without end");
  }

  private static long resume(
      ManagerProcess manager, Load load, Tmpfs disk, Engine engine, long refused)
      throws IOException, InterruptedException {
    disk.free();
    long start = System.nanoTime();
    long before = load.leastOperations();
    await("service to resume", manager, load, () -> load.leastOperations() > before + 10);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    Operator operator = Operator.of(manager);
    await("health to be well again", manager, load, () -> !degraded(operator));
    if (!(engine.client().query(query(engine, refused)) instanceof QueryResult.Miss)) {
      throw new AssertionError("a refused publish left something behind");
    }
    return millis;
  }

  private static QueryRequest query(Engine engine, long first) {
    return new QueryRequest(
        0, 0, "q", List.of(new QueryRequest.GroupKeys(0, engine.keys(first, BLOCKS))));
  }

  private static boolean degraded(Operator operator) {
    try {
      var health = operator.health();
      return health.path("status").asText().equals("DEGRADED")
          && health.path("problems").toString().contains("journal");
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  private static void await(
      String what, ManagerProcess manager, Load load, BooleanSupplier condition)
      throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
    while (!condition.getAsBoolean()) {
      load.check("waiting for " + what);
      if (!manager.isAlive()) {
        throw new AssertionError("the daemon died; see " + manager.log());
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("waited %d ms for %s".formatted(LIMIT_MILLIS, what));
      }
      Thread.sleep(5);
    }
  }
}
