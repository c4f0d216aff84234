package io.orbitkv.chaos.input;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Operator;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.engine.Residue;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Mutated frames and descriptors by the ten thousand. Each gets an answer or ends its own
 * connection; the daemon lives, an honest engine beside it is never refused and never gets a wrong
 * byte, and in the end nothing is held any more.
 */
public final class BadInputSuite {
  private static final int WARM_UP = 50;
  private static final List<String> FLAGS =
      List.of(
          "--pool-size", "1mb", "--instance-query-budget", "256kb", "--http-addr", "127.0.0.1:0");
  private static final long DRAIN_MILLIS = 8_000;

  private BadInputSuite() {}

  /**
   * What was done and seen.
   *
   * @param inputs frames and descriptors sent
   * @param answered those that got a frame or a completion
   * @param closed those that ended their connection
   * @param witnessRounds query, restore and release of the honest engine
   * @param witnessSlowestMicros the slowest of them
   * @param facts facts in the journal
   */
  public record Report(
      int inputs,
      long answered,
      long closed,
      long witnessRounds,
      long witnessSlowestMicros,
      long facts) {}

  /**
   * Runs the suite; a fifth of the inputs are frames.
   *
   * @param dir an empty folder with a short path
   */
  public static Report run(Daemons daemons, Path dir, int inputs, long seed)
      throws IOException, NativeException, InterruptedException {
    Random random = new Random(seed);
    ManagerProcess manager = daemons.start(dir, FLAGS);
    try {
      play(manager, new Random(seed ^ 1), WARM_UP);
      Thread.sleep(500);
      Residue baseline = Residue.settled(manager);
      long[] counts;
      long rounds;
      long slowest;
      try (Witness witness = new Witness(manager.socket())) {
        Thread thread = Thread.ofPlatform().name("witness").start(witness);
        counts = play(manager, random, inputs);
        witness.stop();
        thread.join(10_000);
        Throwable noticed = witness.failure();
        if (noticed != null) {
          throw new AssertionError("seed " + seed + ": an honest engine noticed", noticed);
        }
        rounds = witness.rounds();
        slowest = witness.slowestMicros();
      }
      if (!manager.isAlive()) {
        throw new AssertionError("seed " + seed + ": the daemon died; see " + manager.log());
      }
      awaitDrained(manager, baseline, seed);
      Operator operator = Operator.of(manager);
      if (operator.evictAll() == 0) {
        throw new AssertionError("seed " + seed + ": nothing was cached, nobody was tested");
      }
      if (operator.poolUsedBytes() != 0) {
        throw new AssertionError(
            "seed " + seed + ": extents of nobody: " + operator.poolUsedBytes());
      }
      manager.close();
      Replay replay =
          Replayer.run(
              JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
      if (!replay.clean()
          || replay.state().openLeases() != 0
          || replay.state().openTickets() != 0) {
        throw new AssertionError(
            "seed " + seed + ": the journal does not fold to nothing open: " + replay);
      }
      return new Report(inputs, counts[0], counts[1], rounds, slowest, replay.facts());
    } finally {
      manager.close();
    }
  }

  private static long[] play(ManagerProcess manager, Random random, int inputs)
      throws NativeException {
    try (ControlInput frames = new ControlInput(manager.socket(), random);
        DescriptorInput descriptors = new DescriptorInput(manager.socket(), random)) {
      for (int i = 0; i < inputs; i++) {
        Progress.step("bad input", i, inputs);
        try {
          if (i % 5 == 0) {
            frames.round();
          } else {
            descriptors.round();
          }
        } catch (NativeException | AssertionError broken) {
          throw new AssertionError(
              "input " + i + (manager.isAlive() ? "" : ": the daemon died"), broken);
        }
      }
      return new long[] {
        frames.answered + descriptors.answered, frames.closed + descriptors.closed
      };
    }
  }

  private static void awaitDrained(ManagerProcess manager, Residue baseline, long seed)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
    for (Residue left = Residue.of(manager); !left.within(baseline); left = Residue.of(manager)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "seed %d: left behind: %s, was %s".formatted(seed, left, baseline));
      }
      Thread.sleep(20);
    }
  }
}
