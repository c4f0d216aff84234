package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv members}. */
@Command(
    name = "members",
    description = "List the hosts that work together, as this one sees them.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:this host works with the others",
      "1:it is fenced, works alone, or does not answer"
    })
public final class MembersCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/cluster/members");
    boolean open = answer.path("admission").path("state").asText().equals("OPEN");
    if (http.json) {
      HttpOptions.print(out, answer);
      return open ? ExitCode.OK : ExitCode.FAILED;
    }
    Table table =
        new Table("NODE", "EPOCH", "PEER", "TRANSFER", "BY", "CATALOG SHARDS", "CALLS", "RUNTIME");
    for (JsonNode each : answer.path("members")) {
      table.row(
          each.path("node").asText() + (each.path("self").asBoolean() ? " (this)" : ""),
          each.path("epoch").asLong(),
          each.path("peer").asText(),
          each.path("transfer").asText(),
          each.path("carrier").asText(),
          each.path("catalogShards").asInt(),
          each.path("calls").asText().toLowerCase(Locale.ROOT),
          each.path("runtime").asText());
    }
    table.print(out);
    List<String> hosts = new ArrayList<>();
    answer.path("catalogHosts").forEach(host -> hosts.add(host.asText()));
    out.println(
        hosts.isEmpty()
            ? "The catalog is not founded yet."
            : "The catalog was founded by %s with %d replicas."
                .formatted(String.join(", ", hosts), answer.path("replicationFactor").asInt()));
    if (!open) {
      out.println("FENCED: " + answer.path("admission").path("reason").asText());
    }
    return open ? ExitCode.OK : ExitCode.FAILED;
  }
}
