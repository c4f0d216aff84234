package io.orbitkv.chaos;

import io.orbitkv.chaos.fault.Fault;
import io.orbitkv.chaos.fault.PlantedFault;
import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.ScratchDir;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code orbitkv chaos SUITE}: runs a suite without a build and prints its figures. */
@Command(
    name = "chaos",
    description = "Break daemons and engines on purpose, and check what is left.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Suites: crash, engines, input, disk (needs the right to mount), crowd, heldup, stop,"
          + " mismatch; all runs",
      "each; faults runs them against daemons with planted faults, which they have to find.",
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:every promise held", "1:a promise did not hold", "2:wrong usage"})
public final class ChaosCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "SUITE", description = "crash, engines, ..., all or faults.")
  private String what = "";

  @Option(
      names = {"--rounds", "--kills", "--inputs", "--fills", "--connects", "--attempts", "--stops"},
      paramLabel = "N",
      description = "How often. Default: what a short run does.")
  private @Nullable Integer rounds;

  @Option(names = "--long", description = "As often as a long run.")
  private boolean many;

  @Option(names = "--seed", paramLabel = "N", description = "Where every choice is drawn from.")
  private @Nullable Long givenSeed;

  @Option(
      names = "--fault",
      paramLabel = "FAULT",
      description = "Run one planted fault: ${COMPLETION-CANDIDATES}.")
  private @Nullable Fault fault;

  @Override
  public Integer call() throws Exception {
    if (rounds != null && rounds < 1) {
      throw new ParameterException(
          spec.commandLine(), "how often is 1 or more: what is never tried holds always");
    }
    Progress.turnOn();
    long seed = givenSeed == null ? System.nanoTime() : givenSeed;
    if (what.equals("faults")) {
      return faults(seed);
    }
    boolean held = true;
    boolean known = false;
    for (Suite suite : Suite.values()) {
      if (what.equals("all") || suite.word().equals(what)) {
        known = true;
        held &= run(suite, seed);
      }
    }
    if (!known) {
      throw new ParameterException(
          spec.commandLine(),
          "there is no suite '%s'; there are %s, all and faults"
              .formatted(
                  what,
                  Arrays.stream(Suite.values())
                      .map(Suite::word)
                      .collect(Collectors.joining(", "))));
    }
    return held ? ExitCode.OK : ExitCode.FAILED;
  }

  private boolean run(Suite suite, long seed) throws Exception {
    int count = rounds != null ? rounds : many ? suite.many() : suite.few();
    System.out.printf("%s: %d %s, seed %d%n", suite.word(), count, suite.unit(), seed);
    long start = System.nanoTime();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      Record report = run(suite, dir, count, seed);
      for (RecordComponent figure : report.getClass().getRecordComponents()) {
        System.out.printf("  %-24s %s%n", figure.getName(), figure.getAccessor().invoke(report));
      }
      System.out.printf("  %-24s held, after %s%n", "every promise", since(start));
      return true;
    } catch (AssertionError | Failure broken) {
      System.out.printf("  FAILED after %s:%n", since(start));
      broken.printStackTrace(System.out);
      if (broken instanceof Failure failure) {
        System.out.println("  " + failure.remedy());
      }
      return false;
    }
  }

  /** Leaves the folder there if a promise did not hold. */
  private static Record run(Suite suite, ScratchDir dir, int count, long seed) throws Exception {
    try {
      return suite.run(Daemons.HONEST, dir.path(), count, seed);
    } catch (AssertionError | Failure broken) {
      dir.keep();
      System.out.println("  kept " + dir.path());
      throw broken;
    }
  }

  private int faults(long seed) throws Exception {
    boolean all = true;
    for (Fault each : Fault.values()) {
      if (fault == null || fault == each) {
        long start = System.nanoTime();
        PlantedFault.Verdict verdict = PlantedFault.run(each, seed);
        all &= verdict.found();
        System.out.printf(
            "%-26s %-8s %-5s after %s: %s%n",
            each.word(),
            each.suite().word(),
            verdict.found() ? "found" : "NOT FOUND",
            since(start),
            verdict.how());
      }
    }
    return all ? ExitCode.OK : ExitCode.FAILED;
  }

  private static String since(long startNanos) {
    return Duration.ofMillis((System.nanoTime() - startNanos) / 1_000_000)
        .toString()
        .substring(2)
        .toLowerCase(java.util.Locale.ROOT);
  }
}
