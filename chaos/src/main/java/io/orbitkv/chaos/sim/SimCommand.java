package io.orbitkv.chaos.sim;

import io.orbitkv.manager.Version;
import io.orbitkv.manager.cli.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv sim}. */
@Command(
    name = "sim",
    description = {
      "Run the manager loop in a simulation: engines, time, channel, copies, journal, crashes and other faults, "
          + "all drawn from one seed.",
      "A failure prints the seed and the command that repeats it, then a schedule that is as small as it could be "
          + "made, with what happened in it."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Exit code 1: a rule did not hold.",
      "docs/simulator.md says how to read a failure."
    })
public final class SimCommand implements Callable<Integer> {
  private static final long SHRINK_NANOS = TimeUnit.SECONDS.toNanos(20);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--seed", paramLabel = "S", description = "The first seed; drawn if not given.")
  private @Nullable Long seed;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "300",
      description = "Steps of each schedule (${DEFAULT-VALUE}).")
  private int steps;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description =
          "How many seeds, one after the other; 1 if neither this nor --minutes is given.")
  private @Nullable Long seeds;

  @Option(names = "--minutes", paramLabel = "M", description = "Go on for so long.")
  private @Nullable Double minutes;

  @Option(
      names = "--plant",
      paramLabel = "BUG",
      description = "Plant a bug to see it found: ${COMPLETION-CANDIDATES}.")
  private @Nullable Plant plant;

  @Option(
      names = "--only",
      paramLabel = "STEPS",
      description = "Run only these steps of the schedule, as in 3,7,12-15.")
  private @Nullable String only;

  @Option(names = "--transcript", description = "Print what happens, step by step.")
  private boolean transcript;

  @Option(names = "--no-shrink", description = "Do not look for a smaller schedule.")
  private boolean noShrink;

  @Override
  public Integer call() {
    if (steps < 1 || (seeds != null && seeds < 1) || (minutes != null && minutes <= 0)) {
      throw new ParameterException(
          spec.commandLine(), "--steps, --seeds and --minutes must be above 0");
    }
    PrintWriter out = spec.commandLine().getOut();
    long first = seed == null ? System.nanoTime() & 0xffff_ffffL : seed;
    if (only != null || transcript) {
      return runOne(out, first);
    }
    long begun = System.nanoTime();
    long until =
        minutes == null ? Long.MAX_VALUE : begun + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
    long most = seeds != null ? seeds : minutes != null ? Long.MAX_VALUE : 1;
    long done = 0;
    Tally tally = new Tally();
    while (done < most && System.nanoTime() < until) {
      Schedules.Failure failure = Schedules.run(first + done, steps, plant, tally);
      done++;
      if (failure != null) {
        report(out, failure, done);
        return ExitCode.FAILED;
      }
    }
    double seconds = (System.nanoTime() - begun) / 1e9;
    out.printf(
        Locale.ROOT,
        "every rule held: seeds %d to %d, %d steps each, %.1f s, %.0f seeds/s%n",
        first,
        first + done - 1,
        steps,
        seconds,
        done / seconds);
    out.print(tally.text());
    out.flush();
    return ExitCode.OK;
  }

  private int runOne(PrintWriter out, long of) {
    List<String> lines = new ArrayList<>();
    Schedules.Failure failure =
        Schedules.run(of, steps, plant, only == null ? null : parse(only), lines);
    lines.forEach(out::println);
    if (failure == null) {
      out.println("every rule held");
      return ExitCode.OK;
    }
    describe(out, failure);
    return ExitCode.FAILED;
  }

  private void report(PrintWriter out, Schedules.Failure failure, long seedsRun) {
    describe(out, failure);
    out.println("  after    " + seedsRun + (seedsRun == 1 ? " seed" : " seeds"));
    if (noShrink) {
      return;
    }
    out.flush();
    Schedules.Failure small = Schedules.shrink(failure, SHRINK_NANOS);
    out.printf("%nshrunk to %d of %d steps:%n  %s%n%n", small.kept().size(), steps, replay(small));
    List<String> lines = new ArrayList<>();
    Schedules.run(small.seed(), steps, plant, set(small.kept()), lines);
    lines.forEach(out::println);
    out.println("  " + small.rule() + ": " + small.message());
  }

  private static void describe(PrintWriter out, Schedules.Failure failure) {
    out.println("rule broken: " + failure.rule().text());
    out.println("  what     " + failure.rule() + ": " + failure.message());
    out.println("  seed     " + failure.seed() + ", at step " + failure.atStep());
    out.println("  commit   " + commit());
    out.println("  repeat   " + replay(failure));
    Throwable cause = failure.stack().getCause();
    if (cause != null) {
      out.println("  thrown   " + (cause.getCause() == null ? cause : cause.getCause()));
    }
  }

  /** The command that repeats a failure. */
  static String replay(Schedules.Failure failure) {
    StringBuilder text =
        new StringBuilder("orbitkv sim --seed " + failure.seed() + " --steps " + failure.steps());
    Plant planted = failure.plant();
    if (planted != null) {
      text.append(" --plant ").append(planted);
    }
    if (failure.kept().size() < failure.steps()) {
      text.append(" --only ").append(print(failure.kept()));
    }
    return text.toString();
  }

  private static String print(List<Integer> steps) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < steps.size(); ) {
      int end = i;
      while (end + 1 < steps.size() && steps.get(end + 1) == steps.get(end) + 1) {
        end++;
      }
      text.append(text.isEmpty() ? "" : ",").append(steps.get(i));
      if (end > i) {
        text.append('-').append(steps.get(end));
      }
      i = end + 1;
    }
    return text.toString();
  }

  private BitSet parse(String list) {
    BitSet set = new BitSet();
    for (String part : list.split(",", -1)) {
      int dash = part.indexOf('-');
      try {
        int from = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
        int to = dash < 0 ? from : Integer.parseInt(part.substring(dash + 1));
        set.set(from, to + 1);
        if (to >= steps) {
          throw new ParameterException(
              spec.commandLine(),
              "--only %s: the schedule has steps 0 to %d; --steps makes it longer"
                  .formatted(list, steps - 1));
        }
      } catch (NumberFormatException | IndexOutOfBoundsException e) {
        throw new ParameterException(
            spec.commandLine(), "--only takes steps as in 3,7,12-15, not " + list, e);
      }
    }
    return set;
  }

  private static BitSet set(List<Integer> steps) {
    BitSet set = new BitSet();
    steps.forEach(set::set);
    return set;
  }

  /** The commit of the checkout that runs this, or the version where there is no checkout. */
  private static String commit() {
    String launcher = System.getenv("ORBITKV_LAUNCHER");
    Path checkout = launcher == null ? null : Path.of(launcher).toAbsolutePath().getParent();
    if (checkout == null || !Files.exists(checkout.resolve(".git"))) {
      return "version " + Version.TEXT;
    }
    try {
      Process git =
          new ProcessBuilder("git", "-C", checkout.toString(), "describe", "--always", "--dirty")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String text = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0) {
        return text;
      }
    } catch (IOException e) {
      return "unknown: " + e.getMessage();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return "unknown";
  }
}
