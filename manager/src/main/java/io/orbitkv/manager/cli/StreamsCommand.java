package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv streams}. */
@Command(
    name = "streams",
    description = "Show what this host tells others of its blocks, and what others tell it.",
    mixinStandardHelpOptions = true)
public final class StreamsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/cluster/streams");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    out.printf("Sent, of the journal through position %,d:%n", answer.path("position").asLong());
    Table sent =
        new Table("SHARD", "REPLICA", "PHASE", "THERE", "BEHIND", "OPENED", "FRAMES", "PROBLEM");
    for (JsonNode each : answer.path("sent")) {
      sent.row(
          each.path("catalogShard").asInt(),
          each.path("replica").asText(),
          each.path("phase").asText().toLowerCase(Locale.ROOT),
          position(each.path("acknowledged").asLong()),
          each.path("behind").asLong(),
          each.path("opened").asLong(),
          each.path("framesSent").asLong(),
          each.path("lastProblem").asText());
    }
    sent.print(out);
    out.println("Received:");
    Table received = new Table("SHARD", "OWNER", "EPOCH", "POSITION", "ROWS", "ON THE WAY");
    for (JsonNode each : answer.path("received")) {
      received.row(
          each.path("catalogShard").asInt(),
          each.path("owner").asText(),
          each.path("epoch").asLong(),
          position(each.path("position").asLong()),
          each.path("rows").asLong(),
          each.path("stagingRows").asLong());
    }
    received.print(out);
    return ExitCode.OK;
  }

  private static String position(long position) {
    return position < 0 ? "-" : Long.toString(position);
  }
}
