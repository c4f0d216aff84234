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
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Mutated frames and descriptors by the ten thousand. Each gets an answer or ends its own
 * connection; the daemon lives, an honest engine beside it is never refused and never gets a wrong
 * byte, and in the end nothing is held any more.
 */
public final class BadInputSuite {
  private static final int WARM_UP = 50;
  private static final int INPUTS_THAT_SPREAD = 1_000;
  private static final int LEAST_DECIDED_PERCENT = 30;
  private static final String CHANNEL_REFUSALS = "orbitkv_descriptor_refusals_total";
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
   * @param stages how far the descriptors got
   * @param refusals which refusals they got, and how often
   * @param witnessRounds query, restore and release of the honest engine
   * @param witnessSlowestMicros the slowest of them
   * @param facts facts in the journal
   */
  public record Report(
      int inputs,
      long answered,
      long closed,
      Stages stages,
      Map<String, Integer> refusals,
      long witnessRounds,
      long witnessSlowestMicros,
      long facts) {}

  /**
   * How far descriptors got.
   *
   * @param sent all
   * @param endedConnection those that broke the ring itself
   * @param refusedByChannel those that were refused for their form
   * @param doneByChannel those that were answered well without a decision
   * @param refusedByDecision those that the loop refused
   * @param decided those that the loop did otherwise: misses, leases, publishes, restores
   */
  public record Stages(
      long sent,
      long endedConnection,
      long refusedByChannel,
      long doneByChannel,
      long refusedByDecision,
      long decided) {
    /** Of a hundred. */
    long reachedDecisionsPercent() {
      return 100 * (refusedByDecision + decided) / Math.max(1, sent);
    }
  }

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
      Played played;
      long rounds;
      long slowest;
      try (Witness witness = new Witness(manager.socket())) {
        Thread thread = Thread.ofPlatform().name("witness").start(witness);
        played = play(manager, random, inputs);
        witness.stop();
        thread.join(10_000);
        Throwable noticed = witness.failure();
        if (noticed != null) {
          throw new AssertionError("seed " + seed + ": an honest engine noticed", noticed);
        }
        rounds = witness.rounds();
        slowest = witness.slowestMicros();
      }
      if (inputs >= INPUTS_THAT_SPREAD
          && played.stages.reachedDecisionsPercent() < LEAST_DECIDED_PERCENT) {
        throw new AssertionError(
            "seed %d: too few descriptors got to the decisions: %s, %s"
                .formatted(seed, played.stages, played.refusals));
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
      Progress.say("bad input: folding the journal with every check");
      Replay replay =
          Replayer.run(
              JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
      if (!replay.clean()
          || replay.state().openLeases() != 0
          || replay.state().openTickets() != 0) {
        throw new AssertionError(
            "seed " + seed + ": the journal does not fold to nothing open: " + replay);
      }
      return new Report(
          inputs,
          played.answered,
          played.closed,
          played.stages,
          played.refusals,
          rounds,
          slowest,
          replay.facts());
    } finally {
      manager.close();
    }
  }

  private record Played(long answered, long closed, Stages stages, Map<String, Integer> refusals) {}

  private static Played play(ManagerProcess manager, Random random, int inputs)
      throws NativeException, IOException {
    Operator operator = Operator.of(manager);
    double refusedBefore = operator.sum(CHANNEL_REFUSALS);
    try (ControlInput frames = new ControlInput(manager.socket(), random);
        DescriptorInput damaged = new DescriptorInput(manager.socket(), random, false);
        DescriptorInput whole = new DescriptorInput(manager.socket(), random, true)) {
      for (int i = 0; i < inputs; i++) {
        Progress.step("bad input", i, inputs);
        try {
          if (i % 5 == 0) {
            frames.round();
          } else {
            (random.nextBoolean() ? whole : damaged).round();
          }
        } catch (NativeException | AssertionError broken) {
          throw new AssertionError(
              "input " + i + (manager.isAlive() ? "" : ": the daemon died"), broken);
        }
      }
      long byChannel = (long) (operator.sum(CHANNEL_REFUSALS) - refusedBefore);
      return new Played(
          frames.answered + damaged.answered + whole.answered,
          frames.closed + damaged.closed + whole.closed,
          stages(List.of(damaged, whole), byChannel),
          refusals(List.of(damaged, whole)));
    }
  }

  private static Stages stages(List<DescriptorInput> inputs, long refusedByChannel) {
    long sent = inputs.stream().mapToLong(each -> each.sent).sum();
    long closed = inputs.stream().mapToLong(each -> each.closed).sum();
    long answered = inputs.stream().mapToLong(each -> each.answered).sum();
    long done = inputs.stream().mapToLong(each -> each.doneByChannel).sum();
    long refused = refusals(inputs).values().stream().mapToLong(Integer::longValue).sum();
    // A refusal that was one too many ends the session instead of being seen.
    long refusedByDecision = Math.max(0, refused - refusedByChannel);
    return new Stages(
        sent, closed, refusedByChannel, done, refusedByDecision, answered - refused - done);
  }

  private static Map<String, Integer> refusals(List<DescriptorInput> inputs) {
    Map<String, Integer> all = new TreeMap<>();
    for (DescriptorInput input : inputs) {
      input.refusals.forEach((name, count) -> all.merge(name, count, Integer::sum));
    }
    return all;
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
