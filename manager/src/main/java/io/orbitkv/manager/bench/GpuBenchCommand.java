package io.orbitkv.manager.bench;

import io.orbitkv.client.gpu.StagingOptions;
import io.orbitkv.manager.cli.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench gpu}. */
@Command(
    name = "gpu",
    description = "Publish and restore pages on a GPU beside one bulk pinned copy.",
    mixinStandardHelpOptions = true)
final class GpuBenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--segments",
      paramLabel = "KIB",
      split = ",",
      defaultValue = "4,16,64,256,1024",
      description = "Sizes of a segment in KiB. Default: ${DEFAULT-VALUE}.")
  private List<Integer> segments = List.of();

  @Option(
      names = "--batch",
      paramLabel = "MIB",
      defaultValue = "2048",
      description = "MiB of one publish or restore. Default: ${DEFAULT-VALUE}.")
  private int batch;

  @Option(
      names = "--slot",
      paramLabel = "MIB",
      defaultValue = "32",
      description = "MiB of a staging slot. Default: ${DEFAULT-VALUE}.")
  private int slot;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "3",
      description = "Staging slots, as many for each way. Default: ${DEFAULT-VALUE}.")
  private int slots;

  @Option(
      names = "--blocks",
      paramLabel = "N",
      defaultValue = "132",
      description = "Blocks of a kernel's grid. Default: ${DEFAULT-VALUE}.")
  private int blocks;

  @Option(
      names = "--no-others",
      description = "Leave out the loop of copies and the driver's batch copy.")
  private boolean noOthers;

  @Option(names = "--no-decode", description = "Leave out the restore beside a decode loop.")
  private boolean noDecode;

  @Override
  public Integer call() {
    GpuBench.Plan plan =
        new GpuBench.Plan(
            segments.stream().map(kib -> Math.clamp(kib, 4, 2048) << 10).toList(),
            (long) Math.clamp(batch, 64, 16_384) << 20,
            options.rounds(),
            new StagingOptions(
                Math.clamp(slot, 1, 256) << 20,
                Math.clamp(slots, 1, 16),
                Math.clamp(slots, 1, 16),
                Math.clamp(blocks, 1, 65_535)),
            !noOthers,
            !noDecode);
    GpuBench.run(plan).publish(spec.commandLine().getOut(), options.json());
    return ExitCode.OK;
  }
}
