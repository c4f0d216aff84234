package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.AdoptionReport;
import io.orbitkv.core.pool.PoolFile;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.metrics.PrometheusText;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.PoolCounter;
import java.util.Locale;

/**
 * A pool that outlives the daemon in {@code /status}, {@code /health} and {@code /metrics}; a
 * daemon whose pool dies with it shows none of it.
 */
final class PoolFigures {
  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";

  private PoolFigures() {}

  static void status(ObjectNode pool, Daemon daemon) {
    daemon
        .config()
        .poolPersist()
        .ifPresent(
            path -> {
              ObjectNode kept = pool.putObject("kept");
              kept.put("path", PoolFile.at(path).toString())
                  .put("poolId", daemon.poolId().toString());
              progress(kept, daemon.adoption());
            });
  }

  /** While blocks of an earlier run wait to be verified. */
  static void health(ObjectNode body, Daemon daemon) {
    if (daemon.adoption().waitingBlocks() > 0) {
      progress(body.putObject("adopting"), daemon.adoption());
    }
  }

  private static void progress(ObjectNode node, AdoptionReport report) {
    node.put("keptBlocks", report.keptBlocks())
        .put("waitingBlocks", report.waitingBlocks())
        .put("adoptedBlocks", report.adoptedBlocks())
        .put("damagedBlocks", report.damagedBlocks());
  }

  static void metrics(PrometheusText page, Daemon daemon) {
    if (!daemon.poolId().keeps()) {
      return;
    }
    page.single(
        "orbitkv_pool_unverified_blocks",
        GAUGE,
        "Blocks of an earlier run that nobody has verified yet.",
        daemon.stateOnLoop().unverifiedBlocks());
    Totals totals = daemon.stateOnLoop().totals();
    for (PoolCounter counter : PoolCounter.values()) {
      String words = counter.name().toLowerCase(Locale.ROOT);
      page.single(
          "orbitkv_pool_" + words + "_total",
          COUNTER,
          "Since the journal began: " + words.replace('_', ' ') + ".",
          totals.get(counter));
    }
    page.family(
        "orbitkv_pool_not_adopted_blocks_total", COUNTER, "Blocks that were not whole, by reason.");
    for (AdoptionFailure reason : AdoptionFailure.values()) {
      page.sample(
          "orbitkv_pool_not_adopted_blocks_total",
          "reason",
          reason.name().toLowerCase(Locale.ROOT),
          totals.adoptionsFailed(reason));
    }
  }
}
