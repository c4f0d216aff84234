package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.Inspection;
import io.orbitkv.journal.JournalStats;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.Version;

/** The body of {@code /status}. */
final class StatusJson {
  private StatusJson() {}

  static ObjectNode of(Daemon daemon, Inspection.StatusAnswer status) {
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("status", daemon.health().state().name());
    ArrayNode problems = body.putArray("problems");
    daemon.health().problems().forEach(problems::add);
    body.put("version", Version.TEXT);
    body.put("pid", ProcessHandle.current().pid());
    body.put("epoch", status.epoch());
    body.put("uptimeMillis", daemon.uptimeMillis());
    body.put("socket", daemon.config().endpoint().socketPath());
    body.put("eviction", status.eviction());

    Inspection.PoolView pool = status.pool();
    ObjectNode poolNode = body.putObject("pool");
    poolNode
        .put("bytes", pool.poolBytes())
        .put("usedBytes", pool.usedBytes())
        .put("freeBytes", pool.freeBytes())
        .put("largestFreeBytes", pool.largestFreeBytes())
        .put("extents", pool.extents())
        .put("fragmentation", pool.fragmentation())
        .put("memory", daemon.poolDescription().lines().findFirst().orElse(""));
    PoolFigures.status(poolNode, daemon);
    body.putObject("blocks")
        .put("live", inMemory(status))
        .put("sealed", status.sealedBlocks())
        .put("ssdOnly", status.blocks() - inMemory(status));
    Inspection.SsdView ssd = status.ssd();
    if (ssd != null && daemon.ssd().isPresent()) {
      SsdFigures.status(body, daemon.ssd().get(), ssd);
    }
    GpuFigures.status(body, daemon.gpus().views());
    if (daemon.cluster().isPresent()) {
      ClusterFigures.status(body, daemon.cluster().get());
    }
    body.put("namespaces", status.namespaces());
    body.put("instances", status.instances());
    body.put("sessions", status.sessions());
    body.put("leases", status.openLeases());
    body.put("tickets", status.openTickets());
    body.put("publishes", status.openPublishes());
    body.put("restores", status.openRestores());
    body.putObject("budget")
        .put("usedBytes", status.budgetUsedBytes())
        .put("limitBytes", status.budgetLimitBytes())
        .put("instanceLimitBytes", daemon.config().host().instanceBudgetBytes());

    JournalStats stats = daemon.journal().stats();
    body.putObject("journal")
        .put("dir", daemon.config().journalDir().toString())
        .put("position", status.position())
        .put("digest", "%016x".formatted(status.digest()))
        .put("hasRoom", status.journalHasRoom())
        .put("part", stats.part())
        .put("parts", stats.parts())
        .put("totalBytes", stats.totalBytes())
        .put("reservedBytes", stats.reservedBytes())
        .put("checkpointPosition", stats.checkpointPosition())
        .put("flushedPosition", stats.flushedPosition())
        .put("problem", stats.problem().orElse(""));
    body.putObject("recovery")
        .put("millis", daemon.recovery().millis())
        .put("checkpointPosition", daemon.recovery().checkpointPosition())
        .put("foldedFacts", daemon.recovery().foldedFacts());

    ObjectNode settings = body.putObject("config");
    daemon.config().settings().effective().forEach(settings::put);
    return body;
  }

  /** Blocks that are in memory, sealed or on their way there; those on SSD only are not. */
  static long inMemory(Inspection.StatusAnswer status) {
    Inspection.SsdView ssd = status.ssd();
    return status.blocks() - (ssd == null ? 0 : ssd.onlyBlocks());
  }
}
