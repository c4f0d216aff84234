package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.manager.config.Quantity;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv leases}. */
@Command(name = "leases", description = "List the open leases.", mixinStandardHelpOptions = true)
public final class LeasesCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Option(names = "--after", paramLabel = "ID", description = "Only those with a greater id.")
  private long after;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most this many, up to 4096. Default: 100")
  private int limit = 100;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/leases?after=" + after + "&limit=" + limit);
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    Table table =
        new Table("LEASE", "SESSION", "REQUEST", "BLOCKS", "CHARGED", "RESTORES", "EXPIRES");
    for (JsonNode each : answer.path("leases")) {
      table.row(
          each.path("leaseId").asLong(),
          each.path("sessionId").asLong(),
          each.path("request").asText(),
          each.path("blocks").asInt(),
          Quantity.bytesText(each.path("chargedBytes").asLong()),
          each.path("runningRestores").asInt(),
          Instant.ofEpochMilli(each.path("expiresAtMillis").asLong()));
    }
    table.print(out);
    if (answer.path("more").asBoolean()) {
      out.printf(
          "there are more: go on with --after %d%n",
          answer.path("leases").path(answer.path("leases").size() - 1).path("leaseId").asLong());
    }
    return ExitCode.OK;
  }
}
