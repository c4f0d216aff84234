package io.orbitkv.manager.demo;

import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.config.FileTrouble;
import io.orbitkv.manager.workload.Children;
import io.orbitkv.manager.workload.ScratchDir;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv demo}. */
@Command(
    name = "demo",
    description = "See it work: a Manager, an engine with real bytes, and a replay.",
    mixinStandardHelpOptions = true,
    subcommands = DemoEngineCommand.class,
    footer = {
      "",
      "Needs nothing and takes less than a minute. It leaves a journal and a report page in a"
          + " temporary folder, or in --keep DIR.",
    })
public final class DemoCommand implements Callable<Integer> {
  /** A socket's path may have 107 bytes. */
  private static final int LONGEST_DIR = 90;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DemoWorkload workload = new DemoWorkload();

  @Option(
      names = "--keep",
      paramLabel = "DIR",
      description = "Leave everything in this folder, which is new or empty.")
  private @Nullable Path keep;

  @Override
  public Integer call() {
    if (!workload.valid()) {
      throw new ParameterException(spec.commandLine(), "--requests is 1 to 1000000");
    }
    try {
      return keep == null ? inScratch() : in(prepared(keep));
    } catch (Failure failure) {
      if (Children.stopping()) {
        return ExitCode.FAILED; // interrupted: what the ending processes say is of no use
      }
      throw failure;
    }
  }

  private int inScratch() {
    try (ScratchDir dir = ScratchDir.create("orbitkv-demo-")) {
      int status = in(dir.path());
      dir.keep();
      return status;
    }
  }

  private int in(Path dir) {
    return new Demo(workload, dir, spec.commandLine().getOut()).run()
        ? ExitCode.OK
        : ExitCode.FAILED;
  }

  private static Path prepared(Path dir) {
    Path path = dir.toAbsolutePath().normalize();
    if (path.toString().length() > LONGEST_DIR) {
      throw new Failure(
          path + " is too long for a socket in it",
          "name a folder whose path has at most " + LONGEST_DIR + " characters");
    }
    try {
      Files.createDirectories(path);
      try (Stream<Path> entries = Files.list(path)) {
        if (entries.findAny().isPresent()) {
          throw new Failure(path + " is not empty", "name a new or an empty folder");
        }
      }
      return path;
    } catch (IOException failed) {
      throw new Failure(
          "cannot use " + path + ": " + FileTrouble.text(failed),
          "name a folder that can be written",
          failed);
    }
  }
}
