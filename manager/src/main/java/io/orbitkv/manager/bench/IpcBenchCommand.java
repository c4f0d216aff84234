package io.orbitkv.manager.bench;

import io.orbitkv.manager.cli.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench ipc}. */
@Command(
    name = "ipc",
    description = "Round trips of PING and QUERY, beside a ping-pong of eventfds.",
    mixinStandardHelpOptions = true)
final class IpcBenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private BenchOptions options = new BenchOptions();

  @Override
  public Integer call() {
    IpcBench.run(options.rounds()).publish(spec.commandLine().getOut(), options.json());
    return ExitCode.OK;
  }
}
