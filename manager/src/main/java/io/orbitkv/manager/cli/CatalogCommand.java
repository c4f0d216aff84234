package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
    description = "Show where the catalog is, and who has a block.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true)
public final class CatalogCommand implements Runnable {

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
    Table table = new Table("SHARD", "GENERATION", "MEMBERS", "HERE");
    for (JsonNode each : answer.path("placements")) {
      List<String> members = new ArrayList<>();
      each.path("members").forEach(member -> members.add(member.asText()));
      table.row(
          each.path("catalogShard").asInt(),
          each.path("generation").asLong(),
          String.join(", ", members),
          each.path("here").asBoolean() ? "yes" : "");
    }
    table.print(out);
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
