package io.orbitkv.manager.bench;

import io.orbitkv.manager.cli.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench pool}. */
@Command(
    name = "pool",
    description = "Publish and restore beside memcpy; heap per block; GC pauses.",
    mixinStandardHelpOptions = true)
final class PoolBenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--blocks",
      paramLabel = "N",
      defaultValue = "1000000",
      description = "Small blocks that are cached for the heap. Default: ${DEFAULT-VALUE}.")
  private int blocks;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "1",
      description = "How long the load for the GC pauses lasts. Default: ${DEFAULT-VALUE}.")
  private double minutes;

  @Override
  public Integer call() {
    BenchReport report = new BenchReport("pool");
    BandwidthBench.run(options.rounds(), report);
    HeapBench.run(Math.max(1, blocks), minutes, report);
    report.publish(spec.commandLine().getOut(), options.json());
    return ExitCode.OK;
  }
}
