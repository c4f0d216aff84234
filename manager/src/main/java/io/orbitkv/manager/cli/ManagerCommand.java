package io.orbitkv.manager.cli;

import io.orbitkv.manager.LoopWiring;
import io.orbitkv.manager.config.BadSetting;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.manager.config.Settings;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * {@code orbitkv manager}: runs the daemon in the foreground until SIGTERM or SIGINT. Its options
 * are the {@link Setting}s.
 */
@Command(
    name = "manager",
    description = "Run the Manager of this host.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    customSynopsis =
        "orbitkv manager [--socket PATH] [--pool-size SIZE] [--journal DIR] [OPTION...]",
    footer = {
      "",
      "Every option has a variable (--pool-size is ORBITKV_POOL_SIZE) and a key of the same"
          + " name in the TOML file given by --config or ORBITKV_CONFIG (pool-size = \"4gb\").",
      "A flag goes before a variable, a variable before the file, the file before the default.",
      "Sizes are powers of 1024: 512mb, 4gb, 4gib. Times: 50us, 250ms, 5s, 30m, 12h, 7d.",
      "",
      "SIGTERM and SIGINT drain and end the daemon within 5 s.",
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:ended in order after a signal",
      "1:could not start, or did not drain in time",
      "2:wrong usage, or a setting that cannot be used",
      "70:an invariant broke; the log names the journal position",
    })
public final class ManagerCommand implements Callable<Integer> {
  /** EX_SOFTWARE of sysexits.h. */
  public static final int BROKEN = 70;

  @Spec private CommandSpec spec = CommandSpec.create();

  private final LoopWiring wiring;

  /** The daemon as it is. */
  public ManagerCommand() {
    this(LoopWiring.DIRECT);
  }

  /** The daemon with what a harness puts around its loop. */
  public ManagerCommand(LoopWiring wiring) {
    this.wiring = wiring;
  }

  /** Gives the command its options. */
  public static void addOptions(CommandSpec spec) {
    for (Setting.Group group : Setting.Group.values()) {
      ArgGroupSpec.Builder options =
          ArgGroupSpec.builder()
              .heading("%n" + group.title() + ":%n")
              .validate(false)
              .exclusive(false)
              .multiplicity("0..1");
      for (Setting setting : Setting.values()) {
        if (setting.group() == group) {
          options.addArg(option(setting));
        }
      }
      spec.addArgGroup(options.build());
    }
  }

  private static OptionSpec option(Setting setting) {
    OptionSpec.Builder option =
        OptionSpec.builder(setting.flag())
            .type(setting.isRepeatable() ? String[].class : String.class)
            .paramLabel(setting.label())
            .description(setting.description() + " Default: " + setting.defaultHelp());
    return (setting.isSwitch() ? option.arity("0..1").fallbackValue("on") : option.arity("1"))
        .build();
  }

  @Override
  public Integer call() {
    DaemonConfig config;
    try {
      config =
          DaemonConfig.of(
              Settings.resolve(flags(spec.commandLine().getParseResult()), System.getenv()));
    } catch (BadSetting wrong) {
      throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
    }
    return ManagerRun.run(config, wiring);
  }

  static Map<Setting, String> flags(ParseResult parsed) {
    Map<Setting, String> flags = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      Object value = parsed.matchedOptionValue(setting.flag(), null);
      if (value instanceof String[] texts) {
        flags.put(setting, String.join(",", texts));
      } else if (value != null) {
        flags.put(setting, value.toString());
      }
    }
    return flags;
  }
}
