package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.Inspection.SsdView;
import io.orbitkv.core.ssd.SsdCounters;
import io.orbitkv.manager.SsdParts;
import io.orbitkv.manager.metrics.PrometheusText;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.SsdCounter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The SSD tier in {@code /status} and {@code /metrics}; a daemon without one shows none of it. */
final class SsdFigures {
  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";

  private SsdFigures() {}

  static void status(ObjectNode body, SsdParts parts, SsdView view) {
    SsdCounters counters = parts.counters();
    ObjectNode ssd = body.putObject("ssd");
    ssd.put("tierId", parts.tierId().toString())
        .put("backend", parts.backend())
        .put("admission", view.admission())
        .put("capacityBytes", view.capacityBytes())
        .put("usedBytes", view.usedBytes())
        .put("extents", view.extents())
        .put("blocks", view.copiedBlocks())
        .put("onlyBlocks", view.onlyBlocks())
        .put("loadingBlocks", view.loadingBlocks())
        .put("queuedBytes", view.queuedBytes())
        .put("loadingBytes", view.loadingBytes())
        .put("tasks", view.tasks())
        .put("backlogBlocks", view.backlogBlocks())
        .put("backlogBytes", view.backlogBytes())
        .put("asideBlocks", view.asideBlocks())
        .put("skippedBlocks", view.skippedBlocks())
        .put("refusedLoads", view.refusedLoads())
        .put("readErrors", view.readErrors())
        .put("writeErrors", view.writeErrors())
        .put("readBytes", counters.readBytes())
        .put("writtenBytes", counters.writtenBytes())
        .put("admittedBytes", view.admittedBytes())
        .put("writeAmplification", amplification(counters.writtenBytes(), view.admittedBytes()))
        .put("verifyFailures", counters.mismatches());
    ArrayNode problems = ssd.putArray("problems");
    view.problems().forEach(problems::add);
    ArrayNode files = ssd.putArray("files");
    List<Path> paths = parts.paths();
    for (int file = 0; file < paths.size(); file++) {
      files
          .addObject()
          .put("path", paths.get(file).toString())
          .put("bytes", parts.config().files().get(file).bytes());
    }
  }

  static void metrics(PrometheusText page, SsdParts parts, SsdView view, Totals totals) {
    page.single("orbitkv_ssd_bytes", GAUGE, "What the SSD tier holds.", view.capacityBytes());
    page.single("orbitkv_ssd_used_bytes", GAUGE, "Bytes in SSD extents.", view.usedBytes());
    page.single("orbitkv_ssd_extents", GAUGE, "SSD extents in use.", view.extents());
    page.single("orbitkv_ssd_blocks", GAUGE, "Blocks with a copy on SSD.", view.copiedBlocks());
    page.single(
        "orbitkv_ssd_only_blocks", GAUGE, "Blocks that are nowhere else.", view.onlyBlocks());
    page.single(
        "orbitkv_ssd_loading_blocks", GAUGE, "Blocks being read back.", view.loadingBlocks());
    page.single(
        "orbitkv_ssd_queued_bytes", GAUGE, "Bytes on their way to SSD.", view.queuedBytes());
    page.single(
        "orbitkv_ssd_loading_bytes", GAUGE, "Bytes on their way back.", view.loadingBytes());
    page.single("orbitkv_ssd_tasks", GAUGE, "Reads and writes under way.", view.tasks());
    page.single(
        "orbitkv_ssd_backlog_blocks",
        GAUGE,
        "Blocks that wait for room in the write queue.",
        view.backlogBlocks());
    page.single("orbitkv_ssd_backlog_bytes", GAUGE, "Bytes of those blocks.", view.backlogBytes());
    page.single(
        "orbitkv_ssd_aside_blocks",
        GAUGE,
        "Blocks that wait until the disk takes writes again.",
        view.asideBlocks());
    page.single(
        "orbitkv_ssd_healthy", GAUGE, "1 if the tier is well.", view.problems().isEmpty() ? 1 : 0);
    page.single(
        "orbitkv_ssd_skipped_blocks_total",
        COUNTER,
        "Blocks that left memory before they were written.",
        view.skippedBlocks());
    page.single(
        "orbitkv_ssd_refused_loads_total",
        COUNTER,
        "Reads not begun since the start.",
        view.refusedLoads());
    page.single(
        "orbitkv_ssd_read_errors_total", COUNTER, "Blocks whose read failed.", view.readErrors());
    page.single(
        "orbitkv_ssd_write_errors_total",
        COUNTER,
        "Blocks whose write failed.",
        view.writeErrors());
    page.single(
        "orbitkv_ssd_admitted_bytes_total",
        COUNTER,
        "Bytes of blocks whose write was begun, since the start.",
        view.admittedBytes());
    page.single(
        "orbitkv_ssd_write_amplification",
        GAUGE,
        "Bytes that the device wrote for each byte admitted.",
        amplification(parts.counters().writtenBytes(), view.admittedBytes()));
    device(page, parts.counters());
    totals(page, totals);
  }

  /** Bytes that the device wrote for each byte that was admitted; 1 while nothing was. */
  private static double amplification(long writtenBytes, long admittedBytes) {
    return admittedBytes == 0 ? 1 : (double) writtenBytes / admittedBytes;
  }

  private static void device(PrometheusText page, SsdCounters counters) {
    page.single(
        "orbitkv_ssd_device_read_bytes_total",
        COUNTER,
        "Bytes that the device read since the start.",
        counters.readBytes());
    page.single(
        "orbitkv_ssd_device_written_bytes_total",
        COUNTER,
        "Bytes that the device wrote since the start; over those admitted: write amplification.",
        counters.writtenBytes());
    page.single(
        "orbitkv_ssd_device_reads_total",
        COUNTER,
        "Reads of the device.",
        counters.readOperations());
    page.single(
        "orbitkv_ssd_device_writes_total",
        COUNTER,
        "Writes of the device.",
        counters.writeOperations());
    page.single(
        "orbitkv_ssd_verify_failures_total",
        COUNTER,
        "Slices that came back with another sum.",
        counters.mismatches());
  }

  private static void totals(PrometheusText page, Totals totals) {
    for (SsdCounter counter : SsdCounter.values()) {
      String words = counter.name().toLowerCase(Locale.ROOT);
      page.single(
          "orbitkv_ssd_" + words + "_total",
          COUNTER,
          "Since the journal began: " + words.replace('_', ' ') + ".",
          totals.get(counter));
    }
    page.family("orbitkv_ssd_evicted_blocks_total", COUNTER, "Copies dropped, by cause.");
    for (SsdEvictionCause cause : SsdEvictionCause.values()) {
      page.sample(
          "orbitkv_ssd_evicted_blocks_total",
          "cause",
          cause.name().toLowerCase(Locale.ROOT),
          totals.ssdEvictedBlocks(cause));
    }
    page.family("orbitkv_ssd_failed_blocks_total", COUNTER, "Blocks that did not come back.");
    for (LoadFailure reason : LoadFailure.values()) {
      page.sample(
          "orbitkv_ssd_failed_blocks_total",
          "reason",
          reason.name().toLowerCase(Locale.ROOT),
          totals.loadsFailed(reason));
    }
  }
}
