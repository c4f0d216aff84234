package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv namespaces}. */
@Command(
    name = "namespaces",
    description = "List the namespaces: what blocks and evict take by name.",
    mixinStandardHelpOptions = true)
public final class NamespacesCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/namespaces");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    Table table = new Table("NAMESPACE", "MODEL", "SHARDS", "BLOCKS", "INSTANCES");
    for (JsonNode each : answer.path("namespaces")) {
      table.row(
          each.path("namespace").asText(),
          each.path("model").asText(),
          each.path("shards").asInt(),
          each.path("blocks").asLong(),
          each.path("instances").asInt());
    }
    table.print(out);
    return ExitCode.OK;
  }
}
