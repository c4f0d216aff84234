package io.orbitkv.chaos.ssd;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Operator;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.crash.Load;
import io.orbitkv.chaos.crash.LoadMix;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@code kill -9} of a daemon with an SSD tier at random moments, while blocks go to SSD, leave it
 * and come back. After each start, before anybody else asks: exactly the blocks that the journal
 * says lie on SSD are found, every byte of each is right, and no other block is found. Then the
 * load goes on, and nothing of the dead epoch is honoured.
 */
public final class SsdCrashSuite {
  private static final int CLIENTS = 3;
  private static final int MAX_LIFE_MILLIS = 1_500;
  private static final int EARLY_EVERY = 4;
  private static final long RETURN_MILLIS = 15_000;
  private static final long BUDGET_MILLIS = 3_000;

  /** Twice what SSD has room for, ten times what memory has. */
  private static final LoadMix MIX = new LoadMix(100, 2_000, 0);

  private final Daemons daemons;
  private final Path dir;
  private final Random random;
  private final List<String> flags;
  private final Map<String, Long> universe = new HashMap<>();
  private final List<Long> served = new ArrayList<>();
  private long hits;
  private long misses;
  private int kills;
  private int beforeServing;

  private SsdCrashSuite(Daemons daemons, Path dir, long seed) {
    this.daemons = daemons;
    this.dir = dir;
    this.random = new Random(seed);
    this.flags =
        List.of(
            "--pool-size",
            "2mb",
            "--ssd-cache-path",
            dir.resolve("cache.ssd").toString(),
            "--ssd-cache-capacity",
            "10mb",
            "--digest-every",
            "1000",
            "--journal-part-size",
            "2mb",
            "--http-addr",
            "127.0.0.1:0");
    byte[] key = new byte[BlockPattern.KEY_BYTES];
    for (int conversation = 0; conversation < MIX.conversations(); conversation++) {
      for (int i = 0; i < LoadMix.PREFIX_BLOCKS; i++) {
        long block = MIX.firstBlock(conversation) + i;
        BlockPattern.key(0, block, key, 0);
        universe.put(HexFormat.of().formatHex(key), block);
      }
    }
  }

  /**
   * What was done and seen.
   *
   * @param kills how many daemons were killed
   * @param killsBeforeServing those of them that were still starting
   * @param operations requests that clients completed
   * @param promises facts that clients were told of and that were found in the journal
   * @param deadRefused uses of a dead epoch's lease that were refused
   * @param ssdHits blocks that the journal said lie on SSD, found after a start and compared
   * @param ssdMisses blocks that it knew no copy of, and that were not found
   * @param medianServedMillis median time from the start of a process to the answer to its first
   *     query
   * @param slowestServedMillis longest of them
   * @param servedWithin3s how many of the starts were faster than 3 s
   * @param starts how many there were
   * @param facts facts in the journal at the end
   * @param digestsVerified recorded digests that the final fold agreed with
   */
  public record Report(
      int kills,
      int killsBeforeServing,
      long operations,
      long promises,
      long deadRefused,
      long ssdHits,
      long ssdMisses,
      long medianServedMillis,
      long slowestServedMillis,
      long servedWithin3s,
      int starts,
      long facts,
      long digestsVerified) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path, on the disk that the tier is tried on
   * @throws AssertionError naming the kill and what did not hold
   */
  public static Report run(Daemons daemons, Path dir, int kills, long seed)
      throws IOException, InterruptedException {
    return new SsdCrashSuite(daemons, dir, seed).run(kills, seed);
  }

  private Report run(int wanted, long seed) throws IOException, InterruptedException {
    ManagerProcess manager = daemons.start(dir, flags);
    SsdMap map = new SsdMap(manager.journal());
    try (Load load = new Load(manager.socket(), manager.journal(), CLIENTS, MIX, seed)) {
      while (kills < wanted) {
        Progress.step("kills", kills, wanted);
        awaitReturn(load, manager);
        Thread.sleep(random.nextInt(MAX_LIFE_MILLIS));
        kill(manager, load);
        if (kills % EARLY_EVERY == EARLY_EVERY / 2 && kills < wanted) {
          beforeServing++;
          manager = daemons.launch(dir, flags);
          Thread.sleep(random.nextInt((int) median(MAX_LIFE_MILLIS)));
          kill(manager, load);
        }
        load.pause();
        manager = startAndCompare(manager, map, "seed %d, kill %d".formatted(seed, kills));
        load.resume();
      }
      awaitReturn(load, manager);
      load.stop();
      manager.close();
      load.checkJournal("the end");
      Replay replay = load.fold(manager.journal());
      return new Report(
          kills,
          beforeServing,
          load.operations(),
          load.promises(),
          load.deadRefused(),
          hits,
          misses,
          median(0),
          served.stream().mapToLong(Long::longValue).max().orElse(0),
          served.stream().filter(millis -> millis <= BUDGET_MILLIS).count(),
          served.size(),
          replay.facts(),
          replay.digestsVerified());
    } finally {
      manager.close();
    }
  }

  private void kill(ManagerProcess manager, Load load) throws IOException {
    manager.kill();
    kills++;
    load.check("kill " + kills);
    load.checkJournal("kill " + kills);
  }

  private ManagerProcess startAndCompare(ManagerProcess dead, SsdMap map, String when)
      throws IOException {
    map.readOn();
    Set<String> keys = map.keys();
    Replay replay =
        Replayer.run(JournalReader.open(dead.journal()), ReplayOptions.QUICK, ReplayHooks.NONE);
    if (!replay.clean() || !SsdMap.keys(replay.state()).equals(keys)) {
      throw new AssertionError(when + ": the fold and the facts differ on what lies on SSD");
    }
    List<Long> on = new ArrayList<>();
    List<Long> off = new ArrayList<>();
    universe.forEach((key, block) -> (keys.contains(key) ? on : off).add(block));
    if (on.size() != keys.size()) {
      throw new AssertionError(when + ": blocks of nobody lie on SSD");
    }
    on.sort(null);
    off.sort(null);
    long start = System.nanoTime();
    ManagerProcess manager = daemons.start(dir, flags);
    try (SsdAudit audit = new SsdAudit(manager.socket())) {
      audit.firstQuery(on.isEmpty() ? off.getFirst() : on.getFirst());
      served.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
      audit.expectHits(on);
      audit.expectMisses(off);
      hits += on.size();
      misses += off.size();
      JsonNode ssd = Operator.of(manager).status().required("ssd");
      if (ssd.required("blocks").asInt() != on.size()
          || ssd.required("readErrors").asInt() != 0
          || ssd.required("verifyFailures").asInt() != 0) {
        throw new AssertionError("%d blocks lie on SSD, /status has %s".formatted(on.size(), ssd));
      }
      return manager;
    } catch (AssertionError | RuntimeException broken) {
      manager.close();
      throw new AssertionError(when + ": " + broken.getMessage(), broken);
    }
  }

  private long median(long ofNone) {
    return served.isEmpty() ? ofNone : served.stream().sorted().toList().get(served.size() / 2);
  }

  /** Waits until every client was granted a lease in the running epoch. */
  private static void awaitReturn(Load load, ManagerProcess manager) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RETURN_MILLIS);
    long epoch = manager.health().epoch();
    while (load.servedEpoch() < epoch) {
      load.check("the return");
      if (System.nanoTime() > deadline) {
        throw new AssertionError("a client was not served again within " + RETURN_MILLIS + " ms");
      }
      Thread.sleep(2);
    }
  }
}
