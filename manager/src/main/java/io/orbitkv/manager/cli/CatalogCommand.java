package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code orbitkv catalog ...}: where the catalog is, and who has a block. */
@Command(
    name = "catalog",
    description = "Show and move where the catalog is, and say who has a block.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true)
public final class CatalogCommand implements Runnable {

  private static final long WATCH_MILLIS = 500;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  @Command(
      name = "placement",
      description = "List the members of each catalog shard.",
      mixinStandardHelpOptions = true)
  int placement(@Mixin HttpOptions http) {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/catalog/placement");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    if (!answer.path("founded").asBoolean()) {
      out.println("The catalog is not founded yet: 'orbitkv members' shows who is there.");
      return ExitCode.FAILED;
    }
    Table table = new Table("SHARD", "GENERATION", "MEMBERS", "HERE", "LEADER", "HANDOFF");
    for (JsonNode each : answer.path("placements")) {
      List<String> members = new ArrayList<>();
      each.path("members").forEach(member -> members.add(member.asText()));
      table.row(
          each.path("catalogShard").asInt(),
          each.path("generation").asLong(),
          String.join(", ", members),
          each.path("here").asBoolean()
              ? each.path("role").asText("table").toLowerCase(Locale.ROOT)
              : "",
          each.path("leader").asText(""),
          handoff(each));
    }
    table.print(out);
    return ExitCode.OK;
  }

  private static String handoff(JsonNode placement) {
    return placement.path("step").isMissingNode()
        ? ""
        : "%s %s".formatted(placement.path("step").asText(), placement.path("progress").asText());
  }

  @Command(
      name = "handoff",
      description = "Move a catalog shard to other members.",
      mixinStandardHelpOptions = true)
  int handoff(
      @Mixin HttpOptions http,
      @Parameters(paramLabel = "SHARD", description = "0 to 15.") int shard,
      @Parameters(paramLabel = "NODE,...", description = "All its members to be.") String members) {
    return order(
        http,
        "/catalog/handoff?shard=%d&members=%s".formatted(shard, HttpOptions.encoded(members)));
  }

  @Command(
      name = "rollback",
      description = "Give up a handoff that is not committed.",
      mixinStandardHelpOptions = true)
  int rollback(
      @Mixin HttpOptions http,
      @Parameters(paramLabel = "SHARD", description = "0 to 15.") int shard) {
    return order(http, "/catalog/rollback?shard=" + shard);
  }

  @Command(
      name = "rebalance",
      description = "Spread the catalog shards over the hosts that are there now.",
      mixinStandardHelpOptions = true)
  int rebalance(@Mixin HttpOptions http) {
    return order(http, "/catalog/rebalance");
  }

  @Command(
      name = "drain",
      description = "Move all catalog shards away from a host.",
      mixinStandardHelpOptions = true)
  int drain(
      @Mixin HttpOptions http,
      @Parameters(paramLabel = "NODE", description = "The host.") String node) {
    return order(http, "/catalog/drain?node=" + HttpOptions.encoded(node));
  }

  private int order(HttpOptions http, String path) {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.post(path, null);
    boolean all = true;
    for (JsonNode each : answer.path("orders")) {
      all &= each.path("taken").asBoolean();
    }
    if (http.json) {
      HttpOptions.print(out, answer);
      return all ? ExitCode.OK : ExitCode.FAILED;
    }
    if (answer.path("orders").isEmpty()) {
      out.println("Nothing is to be moved.");
    }
    for (JsonNode each : answer.path("orders")) {
      out.println(
          each.path("taken").asBoolean()
              ? "Catalog shard %d: handoff %d %s; 'orbitkv catalog watch' shows how it goes."
                  .formatted(
                      each.path("catalogShard").asInt(),
                      each.path("attempt").asLong(),
                      each.path("progress").asText())
              : "Catalog shard %d: refused, %s; %s"
                  .formatted(
                      each.path("catalogShard").asInt(),
                      each.path("reason").asText(),
                      each.path("remedy").asText()));
    }
    return all ? ExitCode.OK : ExitCode.FAILED;
  }

  @Command(
      name = "watch",
      description = "Print each change of a placement until no handoff is under way.",
      mixinStandardHelpOptions = true)
  int watch(
      @Mixin HttpOptions http,
      @Option(names = "--follow", description = "Go on until interrupted.") boolean follow) {
    PrintWriter out = spec.commandLine().getOut();
    Map<Integer, String> seen = new HashMap<>();
    boolean open = true;
    while (open || follow) {
      open = false;
      for (JsonNode each : http.get("/catalog/placement").path("placements")) {
        open |= !each.path("step").isMissingNode();
        String now =
            "generation %d %s %s"
                .formatted(each.path("generation").asLong(), each.path("members"), handoff(each));
        if (!now.equals(seen.put(each.path("catalogShard").asInt(), now))) {
          out.printf("Catalog shard %d: %s%n", each.path("catalogShard").asInt(), now.strip());
        }
      }
      out.flush();
      if (open || follow) {
        try {
          Thread.sleep(WATCH_MILLIS);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          return ExitCode.OK;
        }
      }
    }
    return ExitCode.OK;
  }

  @Command(
      name = "find",
      description = "Say which hosts have a block.",
      mixinStandardHelpOptions = true)
  int find(
      @Mixin HttpOptions http,
      @Parameters(paramLabel = "NAMESPACE", description = "The block's namespace.")
          String namespace,
      @Parameters(paramLabel = "KEY", description = "The engine's hash, in hex.") String key,
      @Option(
              names = "--group",
              paramLabel = "N",
              defaultValue = "0",
              description = "Its group. Default: 0")
          int group) {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer =
        http.get(
            "/catalog/find?namespace=%s&group=%d&key=%s"
                .formatted(HttpOptions.encoded(namespace), group, HttpOptions.encoded(key)));
    boolean found = !answer.path("candidates").isEmpty();
    if (http.json) {
      HttpOptions.print(out, answer);
      return found ? ExitCode.OK : ExitCode.FAILED;
    }
    if (!found) {
      out.println(
          answer.path("answered").asBoolean()
              ? "No other host has it."
              : "Catalog shard %d does not answer: 'orbitkv members' shows who is there."
                  .formatted(answer.path("catalogShard").asInt()));
      return ExitCode.FAILED;
    }
    Table table = new Table("NODE", "EPOCH", "TIER", "GENERATION", "BYTES");
    for (JsonNode each : answer.path("candidates")) {
      table.row(
          each.path("node").asText(),
          each.path("epoch").asLong(),
          each.path("tier").asText().toLowerCase(Locale.ROOT),
          each.path("generation").asLong(),
          each.path("bytes").asLong());
    }
    table.print(out);
    return ExitCode.OK;
  }
}
