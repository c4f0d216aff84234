package io.orbitkv.manager.bench;

import io.orbitkv.core.ssd.device.SsdBackend;
import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.manager.workload.ScratchDir;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench ssd}. */
@Command(
    name = "ssd",
    description = "Read and write a file on an SSD, beside fio on the same file.",
    mixinStandardHelpOptions = true,
    footer = {"", "The floor is fio (apt-get install fio); without it there is none."})
final class SsdBenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "A folder on the disk to measure. Default: a temporary one.")
  private @Nullable Path dir;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      defaultValue = "2gb",
      description = "Length of the file. Default: ${DEFAULT-VALUE}.")
  private String size = "2gb";

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "1",
      description = "How long each load runs in a round. Default: ${DEFAULT-VALUE}.")
  private double seconds = 1;

  @Option(
      names = "--ssd-backend",
      paramLabel = "NAME",
      defaultValue = "auto",
      description = "auto, uring or posix. Default: ${DEFAULT-VALUE}.")
  private String backend = "auto";

  @Option(
      names = "--only",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "Only loads whose names contain this, such as 'read' or '4 KiB'.")
  private String only = "";

  @Override
  public Integer call() {
    try (ScratchDir scratch = ScratchDir.create(dir, "orbitkv-bench-")) {
      SsdBench.run(
              new SsdBench.Options(
                  scratch.path(),
                  fileBytes(),
                  parsedBackend(),
                  options.rounds(),
                  Math.clamp(seconds, 0.05, 600),
                  loads(),
                  Fio.find()))
          .publish(spec.commandLine().getOut(), options.json());
    }
    return ExitCode.OK;
  }

  private long fileBytes() {
    try {
      long bytes = Quantity.bytes(size);
      if (bytes >= 64 << 20) {
        return bytes >> 20 << 20;
      }
      throw new IllegalArgumentException("the file has at least 64mb, not " + size);
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), "--size: " + wrong.getMessage(), wrong);
    }
  }

  private SsdBackend parsedBackend() {
    return SsdBackend.parse(backend)
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(), "--ssd-backend: auto, uring or posix, not " + backend));
  }

  private List<DiskLoad> loads() {
    List<DiskLoad> loads =
        DiskLoad.ALL.stream().filter(load -> load.text().contains(only)).toList();
    if (loads.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "--only: no load is called that; there are "
              + String.join("; ", DiskLoad.ALL.stream().map(DiskLoad::text).toList()));
    }
    return loads;
  }
}
