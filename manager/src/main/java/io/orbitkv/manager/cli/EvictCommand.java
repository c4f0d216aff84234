package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.manager.config.Quantity;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv evict}. */
@Command(
    name = "evict",
    description = "Drop blocks from the cache.",
    mixinStandardHelpOptions = true)
public final class EvictCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @ArgGroup(multiplicity = "1")
  private Choice choice = new Choice();

  @Option(names = "--group", paramLabel = "ID", description = "Group of --key. Default: 0")
  private @Nullable Integer groupId;

  @Option(
      names = "--key",
      paramLabel = "HEX",
      description = "Only these keys of the namespace; may be repeated.")
  private List<String> keys = new ArrayList<>();

  /** All or one namespace. */
  private static final class Choice {
    @Option(names = "--all", required = true, description = "Every block of the host.")
    private boolean all;

    @Option(
        names = "--namespace",
        required = true,
        paramLabel = "NAME",
        description = "Blocks of this namespace.")
    private String namespace = "";
  }

  @Override
  public Integer call() {
    if (groupId != null && keys.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "--group goes with --key: it alone selects nothing");
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    if (choice.all) {
      if (!keys.isEmpty()) {
        throw new ParameterException(spec.commandLine(), "--key goes with --namespace");
      }
      body.put("all", true);
    } else {
      body.put("namespace", choice.namespace);
      if (!keys.isEmpty()) {
        body.put("groupId", groupId == null ? 0 : groupId);
        keys.forEach(body.putArray("keys")::add);
      }
    }
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.post("/cache/evict", body);
    if (http.json) {
      HttpOptions.print(out, answer);
    } else {
      out.printf(
          "%d blocks evicted, %s freed, %s when their leases end%n",
          answer.path("blocks").asLong(),
          Quantity.bytesText(answer.path("freedBytes").asLong()),
          Quantity.bytesText(answer.path("retainedBytes").asLong()));
      if (!keys.isEmpty() && answer.path("blocks").asLong() == 0) {
        out.println("none of these keys was in that group; orbitkv blocks lists those that are");
      }
    }
    return ExitCode.OK;
  }
}
