package io.orbitkv.manager.http;

import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.Op;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.journal.JournalStats;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.Version;
import io.orbitkv.manager.metrics.PrometheusText;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import java.util.Locale;

/**
 * The body of {@code /metrics}. Whatever the journal tells is taken from the fold, in one look on
 * the loop thread, so that it reconciles with {@code orbitkv replay} to the last block.
 */
final class MetricsPage {
  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";

  private final Daemon daemon;

  MetricsPage(Daemon daemon) {
    this.daemon = daemon;
  }

  /** Makes the page; loop thread. */
  String onLoop(Reply reply) {
    if (!(reply instanceof Reply.Inspected(Inspection.StatusAnswer status))) {
      throw new IllegalStateException(reply + " is no status");
    }
    PrometheusText page = new PrometheusText();
    page.family("orbitkv_build_info", GAUGE, "The version that runs.")
        .sample("orbitkv_build_info", "version", Version.TEXT, 1);
    gauges(page, status);
    totals(page, daemon.stateOnLoop().totals());
    Inspection.SsdView ssd = status.ssd();
    if (ssd != null && daemon.ssd().isPresent()) {
      SsdFigures.metrics(page, daemon.ssd().get(), ssd, daemon.stateOnLoop().totals());
    }
    GpuFigures.metrics(page, daemon.gpus().views());
    PoolFigures.metrics(page, daemon);
    if (daemon.cluster().isPresent()) {
      ClusterMetrics.add(page, daemon.cluster().get());
    }
    journal(page, status);
    endpoint(page);
    return page.toString();
  }

  private void gauges(PrometheusText page, Inspection.StatusAnswer status) {
    Inspection.PoolView pool = status.pool();
    page.single(
        "orbitkv_epoch",
        GAUGE,
        "Number of this run of the daemon: one more at each start on the same journal.",
        status.epoch());
    page.single(
        "orbitkv_uptime_seconds",
        GAUGE,
        "Time since this run started.",
        daemon.uptimeMillis() / 1e3);
    page.single("orbitkv_healthy", GAUGE, "1 while GET /health answers 200, else 0.", healthy());
    page.single("orbitkv_pool_bytes", GAUGE, "Size of the DRAM pool.", pool.poolBytes());
    page.single(
        "orbitkv_pool_used_bytes",
        GAUGE,
        "Bytes of the pool in extents, padding counted; also of evicted blocks that are still"
            + " read.",
        pool.usedBytes());
    page.single(
        "orbitkv_pool_largest_free_bytes",
        GAUGE,
        "The largest free run of the pool: what one more extent can be at most.",
        pool.largestFreeBytes());
    page.single(
        "orbitkv_pool_extents",
        GAUGE,
        "Extents in use: one for each slice of each block.",
        pool.extents());
    page.single(
        "orbitkv_pool_fragmentation_ratio",
        GAUGE,
        "Share of the free bytes that lie outside the largest free run, 0 to 1.",
        pool.fragmentation());
    page.single(
        "orbitkv_blocks",
        GAUGE,
        "Blocks in memory: sealed, or being published; those on SSD only are not counted.",
        StatusJson.inMemory(status));
    page.single(
        "orbitkv_blocks_sealed",
        GAUGE,
        "Blocks in memory that a query can find.",
        status.sealedBlocks());
    page.single(
        "orbitkv_namespaces",
        GAUGE,
        "Namespaces bound to a format; they stay bound while they have blocks or instances.",
        status.namespaces());
    page.single(
        "orbitkv_instances",
        GAUGE,
        "Registered instances: model deployments of an engine.",
        status.instances());
    page.single(
        "orbitkv_sessions",
        GAUGE,
        "Open sessions: live connections of the instances' processes.",
        status.sessions());
    page.single(
        "orbitkv_leases_open", GAUGE, "Leases granted and not released.", status.openLeases());
    page.single(
        "orbitkv_tickets_open",
        GAUGE,
        "Queries that wait for blocks to be sealed.",
        status.openTickets());
    page.single("orbitkv_publishes_open", GAUGE, "Publishes under way.", status.openPublishes());
    page.single("orbitkv_restores_open", GAUGE, "Restores under way.", status.openRestores());
    page.single(
        "orbitkv_budget_used_bytes",
        GAUGE,
        "Bytes charged to leases, tickets and restores.",
        status.budgetUsedBytes());
    page.single(
        "orbitkv_budget_limit_bytes",
        GAUGE,
        "Bytes that leases, tickets and restores may hold together (--query-budget).",
        status.budgetLimitBytes());
  }

  private double healthy() {
    return daemon.health().problems().isEmpty() ? 1 : 0;
  }

  private static void totals(PrometheusText page, Totals totals) {
    for (Counter counter : Counter.values()) {
      String name = "orbitkv_" + counter.name().toLowerCase(Locale.ROOT);
      if (counter == Counter.RESTORE_MICROS) {
        page.single(
            "orbitkv_restore_seconds_total",
            COUNTER,
            MetricHelp.of(counter),
            totals.get(counter) / 1e6);
      } else {
        page.single(name + "_total", COUNTER, MetricHelp.of(counter), totals.get(counter));
      }
    }
    page.single(
        "orbitkv_missed_blocks_total",
        COUNTER,
        "Blocks that queries asked for and did not get; the hit ratio is hit / asked.",
        totals.missedBlocks());
    page.family(
        "orbitkv_evicted_blocks_total",
        COUNTER,
        "Evicted blocks by cause; capacity is room for others.");
    for (EvictionCause cause : EvictionCause.values()) {
      page.sample(
          "orbitkv_evicted_blocks_total", "cause", label(cause), totals.evictedBlocks(cause));
    }
    page.family(
        "orbitkv_publishes_aborted_total", COUNTER, "Publishes that stored nothing, by reason.");
    for (AbortReason reason : AbortReason.values()) {
      page.sample(
          "orbitkv_publishes_aborted_total",
          "reason",
          label(reason),
          totals.publishesAborted(reason));
    }
    page.family("orbitkv_sessions_closed_total", COUNTER, "Sessions that ended, by reason.");
    for (SessionEnd end : SessionEnd.values()) {
      page.sample(
          "orbitkv_sessions_closed_total", "reason", label(end), totals.sessionsClosed(end));
    }
    page.family(
        "orbitkv_leases_ended_total",
        COUNTER,
        "Leases ended, by reason; expired ones were never released by their engine.");
    for (LeaseEnd end : LeaseEnd.values()) {
      page.sample("orbitkv_leases_ended_total", "reason", label(end), totals.leasesEnded(end));
    }
    page.family(
        "orbitkv_tickets_closed_total",
        COUNTER,
        "Waiting queries that came to an end, by outcome.");
    for (TicketEnd end : TicketEnd.values()) {
      page.sample("orbitkv_tickets_closed_total", "outcome", label(end), totals.ticketsClosed(end));
    }
    page.family("orbitkv_restores_finished_total", COUNTER, "Restores that ended, by outcome.");
    for (RestoreOutcome outcome : RestoreOutcome.values()) {
      page.sample(
          "orbitkv_restores_finished_total",
          "outcome",
          label(outcome),
          totals.restoresFinished(outcome));
    }
    page.family(
        "orbitkv_refusals_total",
        COUNTER,
        "Refused requests by category, all but the callers' own mistakes, which are not"
            + " journaled.");
    for (RefusalCategory category : RefusalCategory.values()) {
      page.sample("orbitkv_refusals_total", "category", label(category), totals.refusals(category));
    }
  }

  private void journal(PrometheusText page, Inspection.StatusAnswer status) {
    JournalStats stats = daemon.journal().stats();
    page.single(
        "orbitkv_journal_position",
        GAUGE,
        "Position of the last fact: facts since the journal began.",
        status.position());
    page.single(
        "orbitkv_journal_flushed_position",
        GAUGE,
        "Position of the last fact known to be on the disk; all before it survive a power cut.",
        stats.flushedPosition());
    page.single(
        "orbitkv_journal_bytes",
        GAUGE,
        "Disk space of the journal's parts and checkpoints.",
        stats.totalBytes());
    page.single(
        "orbitkv_journal_reserved_bytes",
        GAUGE,
        "Disk space reserved ahead, so that what is promised can be appended.",
        stats.reservedBytes());
    page.single(
        "orbitkv_journal_parts",
        GAUGE,
        "Parts of the journal on the disk; --journal-retention deletes the oldest.",
        stats.parts());
    page.single(
        "orbitkv_journal_checkpoint_position",
        GAUGE,
        "Position of the newest checkpoint, from which a restart folds.",
        stats.checkpointPosition());
    page.single(
        "orbitkv_journal_has_room",
        GAUGE,
        "1 while the journal has room, 0 while publishes are refused for want of it.",
        status.journalHasRoom() ? 1 : 0);
    page.family(
            "orbitkv_journal_append_seconds",
            "histogram",
            "Time to append one fact, since the start.")
        .histogram("orbitkv_journal_append_seconds", "", daemon.appends());
  }

  private void endpoint(PrometheusText page) {
    page.family(
        "orbitkv_operation_seconds",
        "histogram",
        "Time from a descriptor's arrival to its last answer by operation, since the start,"
            + " refusals left out.");
    for (Op op : Op.values()) {
      if (op != Op.PING) {
        page.histogram(
            "orbitkv_operation_seconds", "op=\"" + label(op) + "\"", daemon.metrics().latency(op));
      }
    }
    page.family(
        "orbitkv_descriptor_refusals_total",
        COUNTER,
        "Descriptors refused for their form, by category, since the start.");
    for (Category category : Category.values()) {
      page.sample(
          "orbitkv_descriptor_refusals_total",
          "category",
          label(category),
          daemon.metrics().descriptorRefusals(category));
    }
    page.family(
        "orbitkv_control_refusals_total",
        COUNTER,
        "Control frames (REGISTER and others) and connections refused, by category, since the"
            + " start.");
    for (Category category : Category.values()) {
      page.sample(
          "orbitkv_control_refusals_total",
          "category",
          label(category),
          daemon.metrics().controlRefusals(category));
    }
    page.single(
        "orbitkv_protocol_violations_total",
        COUNTER,
        "Sessions closed because their client broke the protocol, since the start.",
        daemon.metrics().violations());
    page.single(
        "orbitkv_connections_total",
        COUNTER,
        "Connections accepted on the socket, since the start.",
        daemon.metrics().connections());
    page.single(
        "orbitkv_loop_cycles_total",
        COUNTER,
        "Rounds of the manager loop, since the start.",
        daemon.endpoint().idle().cycles());
    page.single(
        "orbitkv_loop_asleep_seconds_total",
        COUNTER,
        "Time that the manager loop slept, since the start; the rest it was busy.",
        daemon.endpoint().idle().sleptNanos() / 1e9);
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
