package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.manager.config.BadSetting;
import io.orbitkv.manager.config.ClusterConfig;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.doctor.Doctor;
import io.orbitkv.manager.doctor.Finding;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv doctor}. */
@Command(
    name = "doctor",
    description = "Say what this host offers to a Manager and what it lacks.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The pool's size and the journal's directory are those that 'orbitkv manager' would use:"
          + " set ORBITKV_POOL_SIZE, ORBITKV_JOURNAL or ORBITKV_CONFIG.",
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:a Manager can run here", "1:something that it needs is missing"})
public final class DoctorCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--json", description = "Print a JSON object.")
  private boolean json;

  @Option(
      names = {"--mooncake-lib", "--mooncake-library"},
      paramLabel = "FILE",
      description = "Mooncake's library; it is looked for by default.")
  private @Nullable Path mooncake;

  @Option(
      names = "--pool-persist",
      paramLabel = "PATH",
      description = "A file or folder that is to keep the pool; none by default.")
  private @Nullable Path poolPersist;

  @Option(
      names = "--ssd-cache-path",
      paramLabel = "PATH",
      description = "A file or folder of an SSD tier to try, repeatable; none by default.")
  private List<Path> ssdPaths = new ArrayList<>();

  @Option(
      names = "--etcd-endpoints",
      paramLabel = "URI",
      split = ",",
      description = "etcd servers to try; those of ORBITKV_ETCD_ENDPOINTS by default.")
  private List<String> etcd = new ArrayList<>();

  @Override
  public Integer call() {
    List<Finding> findings;
    try {
      DaemonConfig config = DaemonConfig.of(Settings.resolve(Map.of(), System.getenv()));
      findings =
          new Doctor(
                  config.journalDir(),
                  config.host().poolBytes(),
                  poolPersist == null ? config.poolPersist() : Optional.of(poolPersist),
                  ssdPaths,
                  mooncake == null
                      ? config.cluster().flatMap(ClusterConfig::mooncakeLibrary)
                      : Optional.of(mooncake),
                  etcd.isEmpty()
                      ? config.cluster().map(ClusterConfig::etcd).orElse(List.of())
                      : etcd)
              .examine();
    } catch (BadSetting wrong) {
      throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
    } catch (IOException unreadable) {
      throw new Failure(
          "the host cannot be looked at: " + unreadable, "is this Linux?", unreadable);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      HttpOptions.print(out, toJson(findings));
    } else {
      print(out, findings);
    }
    return findings.stream().anyMatch(each -> each.level() == Finding.Level.FAIL)
        ? ExitCode.FAILED
        : ExitCode.OK;
  }

  private static void print(PrintWriter out, List<Finding> findings) {
    int width = findings.stream().mapToInt(each -> each.name().length()).max().orElse(0);
    for (Finding each : findings) {
      String level = each.level().name().toLowerCase(Locale.ROOT);
      out.println(
          level
              + " ".repeat(6 - level.length())
              + each.name()
              + " ".repeat(width - each.name().length() + 2)
              + each.detail());
      if (!each.remedy().isEmpty()) {
        out.println(" ".repeat(width + 8) + "-> " + each.remedy());
      }
    }
  }

  private static ObjectNode toJson(List<Finding> findings) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode list = root.putArray("findings");
    for (Finding each : findings) {
      list.addObject()
          .put("name", each.name())
          .put("level", each.level().name().toLowerCase(Locale.ROOT))
          .put("detail", each.detail())
          .put("remedy", each.remedy());
    }
    return root;
  }
}
