package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.manager.config.Quantity;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code orbitkv blocks}. */
@Command(
    name = "blocks",
    description = "List the blocks of a namespace.",
    mixinStandardHelpOptions = true)
public final class BlocksCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Option(
      names = "--namespace",
      required = true,
      paramLabel = "NAME",
      description = "Of which namespace.")
  private String namespace = "";

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
    JsonNode answer =
        http.get(
            "/blocks?namespace=%s&after=%d&limit=%d"
                .formatted(HttpOptions.encoded(namespace), after, limit));
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    Table table = new Table("BLOCK", "GROUP", "STATE", "TIER", "PINS", "BYTES", "KEY");
    for (JsonNode each : answer.path("blocks")) {
      table.row(
          each.path("blockId").asLong(),
          each.path("groupId").asInt(),
          each.path("state").asText(),
          each.path("tier").asText(),
          each.path("pins").asInt(),
          Quantity.bytesText(each.path("bytes").asLong()),
          each.path("key").asText());
    }
    table.print(out);
    if (answer.path("more").asBoolean()) {
      out.printf(
          "there are more: go on with --after %d%n",
          answer.path("blocks").path(answer.path("blocks").size() - 1).path("blockId").asLong());
    }
    return ExitCode.OK;
  }
}
