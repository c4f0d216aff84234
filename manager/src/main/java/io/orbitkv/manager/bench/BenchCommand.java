package io.orbitkv.manager.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench}. */
@Command(
    name = "bench",
    description = "Measure OrbitKV against its budgets, each beside its floor on this machine.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "BENCHMARK",
    subcommands = {
      GpuBenchCommand.class,
      IpcBenchCommand.class,
      JournalBenchCommand.class,
      PoolBenchCommand.class,
      SsdBenchCommand.class,
      TraceBenchCommand.class,
      PongCommand.class,
    },
    commandListHeading = "%nBenchmarks:%n")
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which benchmark?");
  }
}
