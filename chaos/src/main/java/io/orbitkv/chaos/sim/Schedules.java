package io.orbitkv.chaos.sim;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs schedules and makes the failing ones smaller. */
public final class Schedules {
  private Schedules() {}

  /**
   * A rule that did not hold.
   *
   * @param seed of the world and the schedule
   * @param steps of the whole schedule
   * @param plant the bug that was planted, null if none was
   * @param kept indices of the steps that ran
   * @param atStep the step under way, {@code steps} if it was the draining behind the last
   * @param stack where it was noticed
   */
  public record Failure(
      long seed,
      int steps,
      @Nullable Plant plant,
      List<Integer> kept,
      int atStep,
      Rule rule,
      String message,
      Throwable stack) {}

  /** Runs the whole schedule of a seed; null when every rule holds. */
  public static @Nullable Failure run(long seed, int steps, @Nullable Plant plant) {
    return run(seed, steps, plant, new Tally());
  }

  /** The same, counting what happens. */
  public static @Nullable Failure run(long seed, int steps, @Nullable Plant plant, Tally tally) {
    return run(seed, steps, plant, Step.schedule(seed, steps), Transcript.NONE, tally);
  }

  /**
   * Runs some steps of the schedule of a seed.
   *
   * @param only indices of the steps to run, null for all
   * @param lines what happened is added here, line by line
   */
  public static @Nullable Failure run(
      long seed, int steps, @Nullable Plant plant, @Nullable BitSet only, List<String> lines) {
    Transcript transcript = Transcript.kept();
    List<Step> schedule =
        Step.schedule(seed, steps).stream()
            .filter(step -> only == null || only.get(step.index()))
            .toList();
    Failure failure = run(seed, steps, plant, schedule, transcript, new Tally());
    lines.addAll(transcript.lines());
    return failure;
  }

  private static @Nullable Failure run(
      long seed,
      int steps,
      @Nullable Plant plant,
      List<Step> schedule,
      Transcript transcript,
      Tally tally) {
    World world = World.draw(seed, plant != Plant.CHECKSUM_NOT_VERIFIED);
    try (Simulation simulation = new Simulation(world, schedule, plant, transcript, tally)) {
      try {
        simulation.run();
        return null;
      } catch (Violation violation) {
        return new Failure(
            seed,
            steps,
            plant,
            schedule.stream().map(Step::index).toList(),
            simulation.stepIndex() == schedule.size() ? steps : simulation.stepIndex(),
            violation.rule(),
            String.valueOf(violation.getMessage()),
            violation);
      }
    }
  }

  /**
   * Leaves out whatever is not needed to break the same rule: engines, kinds of steps, then runs of
   * steps of ever smaller size.
   *
   * @param budgetNanos stops with the best so far when the time is up
   */
  public static Failure shrink(Failure failure, long budgetNanos) {
    long deadline = System.nanoTime() + budgetNanos;
    List<Step> all = Step.schedule(failure.seed(), failure.steps());
    Shrinking shrinking = new Shrinking(failure, deadline);
    List<Step> kept = failure.kept().stream().map(all::get).toList();
    kept = shrinking.without(kept, step -> step.index() > failure.atStep());
    int engines = World.draw(failure.seed(), true).engines().size();
    for (int engine = 0; engine < engines; engine++) {
      int gone = engine;
      kept = shrinking.without(kept, step -> step.engine(engines) == gone);
    }
    for (Step.Kind kind : Step.Kind.values()) {
      kept = shrinking.without(kept, step -> step.kind() == kind);
    }
    for (int size = Math.max(1, kept.size() / 2); ; size = Math.max(1, size / 2)) {
      int before = kept.size();
      for (int from = 0; from < kept.size(); ) {
        List<Step> fewer = new ArrayList<>(kept.subList(0, from));
        fewer.addAll(kept.subList(Math.min(kept.size(), from + size), kept.size()));
        if (shrinking.stillFails(fewer)) {
          kept = fewer;
        } else {
          from += size;
        }
      }
      if ((size == 1 && kept.size() == before) || shrinking.timeIsUp()) {
        return shrinking.best;
      }
    }
  }

  private static final class Shrinking {
    private final Failure original;
    private final long deadline;
    Failure best;

    Shrinking(Failure original, long deadline) {
      this.original = original;
      this.deadline = deadline;
      this.best = original;
    }

    boolean timeIsUp() {
      return System.nanoTime() > deadline;
    }

    List<Step> without(List<Step> steps, java.util.function.Predicate<Step> gone) {
      List<Step> fewer = steps.stream().filter(gone.negate()).toList();
      return fewer.size() < steps.size() && stillFails(fewer) ? fewer : steps;
    }

    boolean stillFails(List<Step> steps) {
      if (timeIsUp()) {
        return false;
      }
      Failure failure =
          run(
              original.seed(),
              original.steps(),
              original.plant(),
              steps,
              Transcript.NONE,
              new Tally());
      if (failure == null || failure.rule() != original.rule()) {
        return false;
      }
      best = failure;
      return true;
    }
  }
}
