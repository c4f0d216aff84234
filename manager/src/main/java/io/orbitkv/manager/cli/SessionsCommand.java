package io.orbitkv.manager.cli;

import static java.time.temporal.ChronoUnit.SECONDS;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv sessions}. */
@Command(
    name = "sessions",
    description = "List the open sessions.",
    mixinStandardHelpOptions = true)
public final class SessionsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/sessions");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    Table table =
        new Table(
            "SESSION",
            "INSTANCE",
            "NAMESPACE",
            "SHARD",
            "ROLE",
            "PID",
            "LEASES",
            "TICKETS",
            "PUBLISHES",
            "RESTORES",
            "STATE",
            "SINCE");
    for (JsonNode each : answer.path("sessions")) {
      table.row(
          each.path("sessionId").asLong(),
          each.path("instance").asText(),
          each.path("namespace").asText(),
          each.path("shard").asInt(),
          each.path("role").asText(),
          each.path("pid").asInt(),
          each.path("leases").asInt(),
          each.path("tickets").asInt(),
          each.path("publishes").asInt(),
          each.path("restores").asInt(),
          each.path("draining").asBoolean() ? "draining" : "open",
          Instant.ofEpochMilli(each.path("openedAtMillis").asLong()).truncatedTo(SECONDS));
    }
    table.print(out);
    return ExitCode.OK;
  }
}
