package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.manager.config.Quantity;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv instances}. */
@Command(
    name = "instances",
    description = "List the registered instances.",
    mixinStandardHelpOptions = true)
public final class InstancesCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/instances");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    Table table = new Table("INSTANCE", "ID", "NAMESPACE", "SESSIONS", "BUDGET USED", "STATE");
    for (JsonNode each : answer.path("instances")) {
      table.row(
          each.path("instance").asText(),
          each.path("instanceId").asLong(),
          each.path("namespace").asText(),
          each.path("sessions").asInt(),
          Quantity.bytesText(each.path("budgetUsedBytes").asLong()),
          each.path("cleaning").asBoolean() ? "cleaning" : "open");
    }
    table.print(out);
    return ExitCode.OK;
  }
}
