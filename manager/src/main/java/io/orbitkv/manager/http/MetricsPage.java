package io.orbitkv.manager.http;

import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.Op;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.journal.JournalStats;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.Version;
import io.orbitkv.manager.metrics.PrometheusText;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
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
    journal(page, status);
    endpoint(page);
    return page.toString();
  }

  private void gauges(PrometheusText page, Inspection.StatusAnswer status) {
    Inspection.PoolView pool = status.pool();
    page.single("orbitkv_epoch", GAUGE, "Number of this daemon run.", status.epoch());
    page.single("orbitkv_uptime_seconds", GAUGE, "Since the start.", daemon.uptimeMillis() / 1e3);
    page.single("orbitkv_healthy", GAUGE, "1 if serving without a problem.", healthy());
    page.single("orbitkv_pool_bytes", GAUGE, "Size of the pool.", pool.poolBytes());
    page.single("orbitkv_pool_used_bytes", GAUGE, "Bytes in extents.", pool.usedBytes());
    page.single(
        "orbitkv_pool_largest_free_bytes", GAUGE, "Largest free run.", pool.largestFreeBytes());
    page.single("orbitkv_pool_extents", GAUGE, "Extents in use.", pool.extents());
    page.single(
        "orbitkv_pool_fragmentation_ratio",
        GAUGE,
        "Share of free memory outside the largest free run.",
        pool.fragmentation());
    page.single("orbitkv_blocks", GAUGE, "Blocks that have memory.", status.blocks());
    page.single("orbitkv_blocks_sealed", GAUGE, "Blocks that can be found.", status.sealedBlocks());
    page.single("orbitkv_namespaces", GAUGE, "Bound namespaces.", status.namespaces());
    page.single("orbitkv_instances", GAUGE, "Registered instances.", status.instances());
    page.single("orbitkv_sessions", GAUGE, "Open sessions.", status.sessions());
    page.single("orbitkv_leases_open", GAUGE, "Open leases.", status.openLeases());
    page.single("orbitkv_tickets_open", GAUGE, "Queries that wait.", status.openTickets());
    page.single("orbitkv_publishes_open", GAUGE, "Publishes under way.", status.openPublishes());
    page.single("orbitkv_restores_open", GAUGE, "Restores under way.", status.openRestores());
    page.single(
        "orbitkv_budget_used_bytes",
        GAUGE,
        "Bytes charged to leases, tickets and restores.",
        status.budgetUsedBytes());
    page.single(
        "orbitkv_budget_limit_bytes", GAUGE, "The global budget.", status.budgetLimitBytes());
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
            "Time of finished restores.",
            totals.get(counter) / 1e6);
      } else {
        page.single(
            name + "_total",
            COUNTER,
            "Since the journal began: "
                + counter.name().toLowerCase(Locale.ROOT).replace('_', ' ')
                + ".",
            totals.get(counter));
      }
    }
    page.single(
        "orbitkv_missed_blocks_total",
        COUNTER,
        "Asked blocks that were not found.",
        totals.missedBlocks());
    page.family("orbitkv_evicted_blocks_total", COUNTER, "Evicted blocks by cause.");
    for (EvictionCause cause : EvictionCause.values()) {
      page.sample(
          "orbitkv_evicted_blocks_total", "cause", label(cause), totals.evictedBlocks(cause));
    }
    page.family("orbitkv_leases_ended_total", COUNTER, "Ended leases by reason.");
    for (LeaseEnd end : LeaseEnd.values()) {
      page.sample("orbitkv_leases_ended_total", "reason", label(end), totals.leasesEnded(end));
    }
    page.family("orbitkv_tickets_closed_total", COUNTER, "Closed tickets by outcome.");
    for (TicketEnd end : TicketEnd.values()) {
      page.sample("orbitkv_tickets_closed_total", "outcome", label(end), totals.ticketsClosed(end));
    }
    page.family("orbitkv_restores_finished_total", COUNTER, "Finished restores by outcome.");
    for (RestoreOutcome outcome : RestoreOutcome.values()) {
      page.sample(
          "orbitkv_restores_finished_total",
          "outcome",
          label(outcome),
          totals.restoresFinished(outcome));
    }
    page.family("orbitkv_refusals_total", COUNTER, "Journaled refusals by category.");
    for (RefusalCategory category : RefusalCategory.values()) {
      page.sample("orbitkv_refusals_total", "category", label(category), totals.refusals(category));
    }
  }

  private void journal(PrometheusText page, Inspection.StatusAnswer status) {
    JournalStats stats = daemon.journal().stats();
    page.single("orbitkv_journal_position", GAUGE, "Number of the last fact.", status.position());
    page.single(
        "orbitkv_journal_flushed_position",
        GAUGE,
        "Last fact known to be on the disk.",
        stats.flushedPosition());
    page.single(
        "orbitkv_journal_bytes", GAUGE, "Disk space of parts and checkpoints.", stats.totalBytes());
    page.single("orbitkv_journal_reserved_bytes", GAUGE, "Reserved ahead.", stats.reservedBytes());
    page.single("orbitkv_journal_parts", GAUGE, "Parts on disk.", stats.parts());
    page.single(
        "orbitkv_journal_checkpoint_position",
        GAUGE,
        "Position of the newest checkpoint.",
        stats.checkpointPosition());
    page.single(
        "orbitkv_journal_has_room",
        GAUGE,
        "1 while publishes can be promised.",
        status.journalHasRoom() ? 1 : 0);
    page.family("orbitkv_journal_append_seconds", "histogram", "Time of one append.")
        .histogram("orbitkv_journal_append_seconds", "", daemon.appends());
  }

  private void endpoint(PrometheusText page) {
    page.family(
        "orbitkv_operation_seconds",
        "histogram",
        "From a descriptor's arrival to its last answer, refusals left out.");
    for (Op op : Op.values()) {
      if (op != Op.PING) {
        page.histogram(
            "orbitkv_operation_seconds", "op=\"" + label(op) + "\"", daemon.metrics().latency(op));
      }
    }
    page.family(
        "orbitkv_descriptor_refusals_total",
        COUNTER,
        "Descriptors that the endpoint refused before the loop saw them.");
    for (Category category : Category.values()) {
      page.sample(
          "orbitkv_descriptor_refusals_total",
          "category",
          label(category),
          daemon.metrics().descriptorRefusals(category));
    }
    page.family(
        "orbitkv_control_refusals_total", COUNTER, "Refused control frames and connections.");
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
        "Sessions closed because their client broke the protocol.",
        daemon.metrics().violations());
    page.single(
        "orbitkv_connections_total",
        COUNTER,
        "Connections accepted.",
        daemon.metrics().connections());
    page.single(
        "orbitkv_loop_cycles_total",
        COUNTER,
        "Duty cycles of the loop.",
        daemon.endpoint().idle().cycles());
    page.single(
        "orbitkv_loop_asleep_seconds_total",
        COUNTER,
        "Time the loop slept; the rest of the uptime it was busy.",
        daemon.endpoint().idle().sleptNanos() / 1e9);
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
