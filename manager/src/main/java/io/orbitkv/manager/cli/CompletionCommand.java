package io.orbitkv.manager.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code orbitkv completion}. */
@Command(
    name = "completion",
    description = "Print the shell completion: source <(orbitkv completion bash).",
    mixinStandardHelpOptions = true)
public final class CompletionCommand implements Callable<Integer> {

  /** The shells there is a completion for; zsh reads bash's after {@code autoload bashcompinit}. */
  public enum Shell {
    BASH,
    ZSH
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..1", defaultValue = "BASH", description = "bash or zsh; default: bash.")
  private Shell shell = Shell.BASH;

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    String name = root.getCommandName();
    if (shell == Shell.ZSH) {
      spec.commandLine().getOut().println("autoload -U +X compinit && compinit");
    }
    spec.commandLine().getOut().print(AutoComplete.bash(name, root));
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }
}
