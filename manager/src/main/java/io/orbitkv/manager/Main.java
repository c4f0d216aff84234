package io.orbitkv.manager;

import io.orbitkv.manager.bench.BenchCommand;
import io.orbitkv.manager.cli.BlocksCommand;
import io.orbitkv.manager.cli.CatalogCommand;
import io.orbitkv.manager.cli.CompletionCommand;
import io.orbitkv.manager.cli.DoctorCommand;
import io.orbitkv.manager.cli.EvictCommand;
import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.cli.ExtraCommands;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.cli.InstancesCommand;
import io.orbitkv.manager.cli.LeasesCommand;
import io.orbitkv.manager.cli.Logging;
import io.orbitkv.manager.cli.ManagerCommand;
import io.orbitkv.manager.cli.ManagerRun;
import io.orbitkv.manager.cli.MembersCommand;
import io.orbitkv.manager.cli.NamespacesCommand;
import io.orbitkv.manager.cli.PlainFlags;
import io.orbitkv.manager.cli.ReplayCommand;
import io.orbitkv.manager.cli.SessionsCommand;
import io.orbitkv.manager.cli.StatusCommand;
import io.orbitkv.manager.cli.StreamsCommand;
import io.orbitkv.manager.cli.VersionCommand;
import io.orbitkv.manager.config.BadSetting;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.demo.DemoCommand;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code orbitkv} command line. Each command is a class of {@code io.orbitkv.manager.cli}, a
 * {@code Callable<Integer>} that returns an {@link ExitCode} and throws {@link Failure} for what a
 * person can do something about.
 */
@Command(
    name = "orbitkv",
    description = "A KV cache manager for LLM inference: one daemon per host, and its tools.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    scope = ScopeType.LOCAL,
    versionProvider = VersionCommand.Provider.class,
    subcommands = {
      ManagerCommand.class,
      StatusCommand.class,
      NamespacesCommand.class,
      InstancesCommand.class,
      SessionsCommand.class,
      LeasesCommand.class,
      BlocksCommand.class,
      EvictCommand.class,
      MembersCommand.class,
      StreamsCommand.class,
      CatalogCommand.class,
      DoctorCommand.class,
      ReplayCommand.class,
      DemoCommand.class,
      BenchCommand.class,
      CompletionCommand.class,
      VersionCommand.class,
      HelpCommand.class,
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, or the answer is yes",
      "1:failed, refused, or the answer is no",
      "2:wrong usage: an unknown option, a value out of range",
    },
    commandListHeading = "%nCommands:%n",
    footer = {"", "'orbitkv COMMAND --help' tells more about each."})
public final class Main implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  public static void main(String[] args) {
    boolean starts = args.length > 0 && args[0].equals("manager");
    if (starts) {
      StartAhead.begin();
    }
    Logging.setUp("warn");
    if (starts) {
      runPlainManager(Arrays.asList(args).subList(1, args.length));
    }
    CommandLine manager = starts ? managerAlone(args) : null;
    System.exit(
        manager == null
            ? commandLine().execute(args)
            : manager.execute(Arrays.copyOfRange(args, 1, args.length)));
  }

  /** Does not return where the command line is plain and its settings can be used. */
  private static void runPlainManager(List<String> words) {
    Optional<Map<Setting, String>> flags = PlainFlags.of(words);
    if (flags.isEmpty()) {
      return;
    }
    DaemonConfig config;
    try {
      config = DaemonConfig.of(Settings.resolve(flags.get(), System.getenv()));
    } catch (BadSetting wrong) {
      return; // which the command line's reader tells
    }
    int status;
    try {
      status = ManagerRun.run(config, LoopWiring.DIRECT);
    } catch (Failure failure) {
      status =
          ManagerRun.failed(failure, new PrintWriter(System.err, true, Charset.defaultCharset()));
    }
    System.exit(status);
  }

  /**
   * The command {@code manager} without the models of all others, which take a start some
   * hundredths of a second.
   *
   * @return null where the whole command line is due: for help, and to say what is wrong
   */
  static @Nullable CommandLine managerAlone(String[] args) {
    CommandLine manager = new CommandLine(new ManagerCommand());
    ManagerCommand.addOptions(manager.getCommandSpec());
    manager.getCommandSpec().name("orbitkv manager");
    handleFailures(manager);
    try {
      ParseResult parsed = manager.parseArgs(Arrays.copyOfRange(args, 1, args.length));
      return parsed.isUsageHelpRequested() || parsed.isVersionHelpRequested() ? null : manager;
    } catch (ParameterException wrong) {
      return null;
    }
  }

  /** The whole command line, also for tests and for generating the shell completion. */
  public static CommandLine commandLine() {
    CommandLine root = new CommandLine(new Main());
    ServiceLoader.load(ExtraCommands.class)
        .forEach(extra -> extra.commands().forEach(root::addSubcommand));
    ManagerCommand.addOptions(subcommand(root, "manager"));
    root.getSubcommands()
        .values()
        .forEach(each -> each.getCommandSpec().versionProvider(new VersionCommand.Provider()));
    root.setCaseInsensitiveEnumValuesAllowed(true);
    root.setUsageHelpAutoWidth(true);
    handleFailures(root);
    return root;
  }

  private static void handleFailures(CommandLine root) {
    root.setParameterExceptionHandler(Main::wrongUsage);
    root.setExecutionExceptionHandler(
        (thrown, command, parsed) -> {
          PrintWriter err = command.getErr();
          if (thrown instanceof Failure failure) {
            return ManagerRun.failed(failure, err);
          }
          throw thrown;
        });
  }

  /** What is wrong in one line, and where the usage is told; a list of commands comes at once. */
  private static int wrongUsage(ParameterException wrong, String[] args) {
    CommandLine command = wrong.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("orbitkv: " + String.valueOf(wrong.getMessage()).replaceFirst("^Error: ", ""));
    UnmatchedArgumentException.printSuggestions(wrong, err);
    if (command.getSubcommands().values().stream()
        .allMatch(each -> each.getCommandSpec().usageMessage().hidden())) {
      err.printf("  '%s --help' tells the usage%n", command.getCommandSpec().qualifiedName());
    } else {
      command.usage(err);
    }
    return ExitCode.USAGE;
  }

  private static CommandSpec subcommand(CommandLine root, String name) {
    CommandLine command = root.getSubcommands().get(name);
    if (command == null) {
      throw new IllegalStateException("there is no command " + name);
    }
    return command.getCommandSpec();
  }

  /** Without a command there is nothing to do but to say so. */
  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }
}
