package io.orbitkv.manager.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.manager.replay.Words;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code orbitkv status}. */
@Command(
    name = "status",
    description = "Show how the daemon of this host is.",
    mixinStandardHelpOptions = true)
public final class StatusCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private HttpOptions http = new HttpOptions();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    JsonNode answer = http.get("/status");
    if (http.json) {
      HttpOptions.print(out, answer);
      return ExitCode.OK;
    }
    JsonNode pool = answer.path("pool");
    JsonNode blocks = answer.path("blocks");
    JsonNode ssd = answer.path("ssd");
    JsonNode budget = answer.path("budget");
    JsonNode journal = answer.path("journal");
    line(out, "status", answer.path("status").asText());
    for (JsonNode problem : answer.path("problems")) {
      line(out, "problem", problem.asText());
    }
    line(
        out,
        "daemon",
        "version %s, pid %d, epoch %d, up %s"
            .formatted(
                answer.path("version").asText(),
                answer.path("pid").asLong(),
                answer.path("epoch").asLong(),
                uptime(answer.path("uptimeMillis").asLong())));
    line(out, "socket", answer.path("socket").asText());
    line(
        out,
        "pool",
        "%s of %s used in %s, fragmentation %.1f %%, %s eviction"
            .formatted(
                bytes(pool, "usedBytes"),
                bytes(pool, "bytes"),
                count(pool, "extents", "extent"),
                100 * pool.path("fragmentation").asDouble(),
                answer.path("eviction").asText()));
    line(out, "", pool.path("memory").asText());
    JsonNode kept = pool.path("kept");
    if (kept.isObject()) {
      line(
          out,
          "kept",
          "%s, %,d of %,d blocks adopted, %,d waiting, %,d damaged"
              .formatted(
                  kept.path("path").asText(),
                  kept.path("adoptedBlocks").asLong(),
                  kept.path("keptBlocks").asLong(),
                  kept.path("waitingBlocks").asLong(),
                  kept.path("damagedBlocks").asLong()));
    }
    line(
        out,
        "blocks",
        "%,d sealed in memory, %,d being published%s"
            .formatted(
                blocks.path("sealed").asLong(),
                Math.max(
                    0,
                    blocks.path("live").asLong()
                        - blocks.path("sealed").asLong()
                        - kept.path("waitingBlocks").asLong()),
                ssd.isObject()
                    ? ", %,d on SSD only".formatted(blocks.path("ssdOnly").asLong())
                    : ""));
    for (JsonNode gpu : answer.path("gpus")) {
      line(
          out,
          "gpu " + gpu.path("ordinal").asInt(),
          "%s, %d staging rings, %s restored, %s published%s"
              .formatted(
                  gpu.path("name").asText(),
                  gpu.path("stagingRings").asInt(),
                  bytes(gpu, "loadedBytes"),
                  bytes(gpu, "savedBytes"),
                  gpu.path("problem").asText().isEmpty()
                      ? ""
                      : ", BROKEN: " + gpu.path("problem").asText()));
    }
    if (ssd.isObject()) {
      line(
          out,
          "ssd",
          "%s of %s used, %,d blocks, %,d of them nowhere else, %s queued, %s on the way back"
              .formatted(
                  bytes(ssd, "usedBytes"),
                  bytes(ssd, "capacityBytes"),
                  ssd.path("blocks").asLong(),
                  ssd.path("onlyBlocks").asLong(),
                  bytes(ssd, "queuedBytes"),
                  bytes(ssd, "loadingBytes")));
      line(
          out,
          "",
          "%s read, %s written (%.2f for each byte admitted), %,d blocks wait, %,d aside, %,d skipped"
              .formatted(
                  bytes(ssd, "readBytes"),
                  bytes(ssd, "writtenBytes"),
                  ssd.path("writeAmplification").asDouble(),
                  ssd.path("backlogBlocks").asLong(),
                  ssd.path("asideBlocks").asLong(),
                  ssd.path("skippedBlocks").asLong()));
      line(
          out,
          "",
          "%,d read errors, %,d write errors, %,d blocks with another sum"
              .formatted(
                  ssd.path("readErrors").asLong(),
                  ssd.path("writeErrors").asLong(),
                  ssd.path("verifyFailures").asLong()));
      line(out, "", ssd.path("backend").asText());
    }
    JsonNode cluster = answer.path("cluster");
    if (cluster.isObject()) {
      cluster(out, cluster);
    }
    line(
        out,
        "engines",
        "%s, %s, %s"
            .formatted(
                count(answer, "instances", "instance"),
                count(answer, "sessions", "session"),
                count(answer, "namespaces", "namespace")));
    line(
        out,
        "work",
        "%s, %s, %s, %s"
            .formatted(
                count(answer, "leases", "lease"),
                count(answer, "tickets", "ticket"),
                count(answer, "publishes", "publish"),
                count(answer, "restores", "restore")));
    line(
        out,
        "budget",
        "%s of %s charged".formatted(bytes(budget, "usedBytes"), bytes(budget, "limitBytes")));
    line(
        out,
        "journal",
        "position %,d, %s in %s, checkpoint at %,d%s"
            .formatted(
                journal.path("position").asLong(),
                bytes(journal, "totalBytes"),
                count(journal, "parts", "part"),
                journal.path("checkpointPosition").asLong(),
                journal.path("hasRoom").asBoolean() ? "" : ", NO ROOM"));
    line(out, "", journal.path("dir").asText());
    return ExitCode.OK;
  }

  private static void cluster(PrintWriter out, JsonNode cluster) {
    JsonNode admission = cluster.path("admission");
    line(
        out,
        "cluster",
        "%s as %s, %s, %s"
            .formatted(
                cluster.path("cluster").asText(),
                cluster.path("node").asText(),
                count(cluster, "members", "member"),
                admission.path("state").asText().equals("OPEN")
                    ? "open"
                    : "FENCED: " + admission.path("reason").asText()));
    JsonNode catalog = cluster.path("catalog");
    line(
        out,
        "catalog",
        "%s, %s here, %,d rows; %d of %d streams current, %,d behind"
            .formatted(
                catalog.path("founded").asBoolean() ? "founded" : "waits for hosts",
                count(catalog, "shardsServed", "catalog shard"),
                catalog.path("visibleRows").asLong(),
                cluster.path("streams").path("open").asInt(),
                cluster.path("streams").path("all").asInt(),
                cluster.path("streams").path("mostBehind").asLong()));
    JsonNode transfer = cluster.path("transfer");
    line(
        out,
        "transfer",
        "%s, %s read, %s served, %s"
            .formatted(
                transfer.path("carrier").asText(),
                bytes(transfer, "bytesRead"),
                bytes(transfer, "bytesServed"),
                count(transfer, "grants", "grant")));
  }

  private static void line(PrintWriter out, String title, String text) {
    out.printf("%-9s%s%n", title, text);
  }

  private static String count(JsonNode node, String field, String noun) {
    return Words.count(node.path(field).asLong(), noun);
  }

  private static String bytes(JsonNode node, String field) {
    return Quantity.bytesText(node.path(field).asLong());
  }

  private static String uptime(long millis) {
    long seconds = millis / 1_000;
    return seconds < 3_600
        ? "%dm %02ds".formatted(seconds / 60, seconds % 60)
        : "%dd %02dh %02dm".formatted(seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
  }
}
