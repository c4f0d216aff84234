package io.orbitkv.manager.cli;

import io.orbitkv.manager.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv version}. */
@Command(
    name = "version",
    description = "Print the version of OrbitKV.",
    mixinStandardHelpOptions = true)
public final class VersionCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--json", description = "Print a JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    spec.commandLine()
        .getOut()
        .println(json ? "{\"version\":\"" + Version.TEXT + "\"}" : "orbitkv " + Version.TEXT);
    return ExitCode.OK;
  }

  /** For {@code --version}. */
  public static final class Provider implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"orbitkv " + Version.TEXT};
    }
  }
}
