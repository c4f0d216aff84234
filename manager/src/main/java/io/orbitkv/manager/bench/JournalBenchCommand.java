package io.orbitkv.manager.bench;

import io.orbitkv.manager.cli.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench journal}. */
@Command(
    name = "journal",
    description = "Append, fold and restart, beside a bare mapped log.",
    mixinStandardHelpOptions = true)
final class JournalBenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--facts",
      paramLabel = "N",
      defaultValue = "1000000",
      description = "Facts that are folded and started on. Default: ${DEFAULT-VALUE}.")
  private int facts;

  @Option(
      names = "--extents",
      paramLabel = "N",
      defaultValue = "1000000",
      description = {
        "Extents of 4 KiB on SSD that are started on, 0 for none. They take so much space in the"
            + " temporary folder, and the row is left out where it is not there.",
        "Default: ${DEFAULT-VALUE}."
      })
  private int extents;

  @Override
  public Integer call() {
    JournalBench.run(options.rounds(), Math.max(1, facts), Math.max(0, extents))
        .publish(spec.commandLine().getOut(), options.json());
    return ExitCode.OK;
  }
}
