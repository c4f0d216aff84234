package io.orbitkv.manager.http;

import io.orbitkv.catalog.calls.CircuitBreaker;
import io.orbitkv.catalog.inventory.TableStats;
import io.orbitkv.catalog.lookup.LookupFigures;
import io.orbitkv.catalog.peer.PeerStats;
import io.orbitkv.catalog.raft.ReplicaStatus;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.manager.metrics.PrometheusText;
import io.orbitkv.transfer.TransferStats;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** This host among others, in {@code /metrics}; a Manager that works alone shows none of it. */
final class ClusterMetrics {
  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";

  private ClusterMetrics() {}

  static void add(PrometheusText page, Cluster cluster) {
    page.single(
        "orbitkv_cluster_members", GAUGE, "Live hosts.", cluster.members().members().size());
    page.single(
        "orbitkv_cluster_open",
        GAUGE,
        "1 while work with other hosts may begin, 0 while this host is fenced.",
        cluster.admission().isOpen() ? 1 : 0);
    inventory(page, cluster);
    catalog(page, cluster);
    lookups(page, cluster.lookup().figures());
    calls(page, cluster);
    transfers(page, cluster.transfer().stats());
  }

  private static void inventory(PrometheusText page, Cluster cluster) {
    page.single(
        "orbitkv_inventory_behind_facts",
        GAUGE,
        "Facts of the journal that the inventory has not.",
        cluster.inventoryBehind());
    page.single("orbitkv_inventory_rows", GAUGE, "Rows told.", cluster.inventory().rows());
    page.single(
        "orbitkv_inventory_streams", GAUGE, "Streams to replicas.", cluster.streams().size());
    page.single(
        "orbitkv_inventory_streams_current",
        GAUGE,
        "Streams that send changes as they come.",
        cluster.streams().stream().filter(ClusterFigures::isCurrent).count());
    page.single(
        "orbitkv_inventory_most_behind",
        GAUGE,
        "Positions that the slowest replica is behind.",
        ClusterFigures.mostBehind(cluster));
  }

  private static void catalog(PrometheusText page, Cluster cluster) {
    TableStats tables = ClusterFigures.tables(cluster);
    page.single(
        "orbitkv_catalog_shards", GAUGE, "Catalog shards served here.", cluster.tables().size());
    page.single("orbitkv_catalog_rows", GAUGE, "Rows that lookups see here.", tables.visibleRows());
    page.single(
        "orbitkv_catalog_hidden_rows",
        GAUGE,
        "Rows that lookups do not see, or not yet.",
        tables.stagingRows() + tables.deadRows());
    page.single(
        "orbitkv_catalog_shards_led",
        GAUGE,
        "Catalog shards whose members this host leads.",
        cluster.replicas().stream().filter(each -> each.role().equals("LEADER")).count());
    page.single(
        "orbitkv_catalog_log_bytes",
        GAUGE,
        "What the catalog's logs and snapshots take on disk.",
        cluster.replicas().stream().mapToLong(ReplicaStatus::logBytes).sum());
    page.single("orbitkv_catalog_bytes", GAUGE, "Bytes of the tables.", tables.bytes());
  }

  private static void lookups(PrometheusText page, LookupFigures figures) {
    page.family("orbitkv_lookup_keys_total", COUNTER, "Keys looked up, by who answered.");
    page.sample("orbitkv_lookup_keys_total", "by", "index", figures.fromIndex());
    page.sample("orbitkv_lookup_keys_total", "by", "here", figures.fromHere());
    page.sample("orbitkv_lookup_keys_total", "by", "nobody", figures.unanswered());
    page.sample(
        "orbitkv_lookup_keys_total",
        "by",
        "others",
        Math.max(
            0, figures.keys() - figures.fromIndex() - figures.fromHere() - figures.unanswered()));
    page.single(
        "orbitkv_lookup_questions_total",
        COUNTER,
        "Questions to other hosts.",
        figures.questions());
    page.single(
        "orbitkv_lookup_failures_total",
        COUNTER,
        "Questions that came to nothing.",
        figures.failures());
    page.single(
        "orbitkv_lookup_stale_total",
        COUNTER,
        "Questions answered with a newer placement.",
        figures.stale());
  }

  private static void calls(PrometheusText page, Cluster cluster) {
    Map<String, Long> made = new TreeMap<>();
    Map<String, Long> taken = new TreeMap<>();
    for (PeerStats.Row row : cluster.calls().rows()) {
      Map<String, Long> into = row.side() == PeerStats.Side.CLIENT ? made : taken;
      into.merge(row.outcome(), row.count(), Long::sum);
    }
    outcomes(page, "orbitkv_peer_calls_made_total", "Calls of this host, by outcome.", made);
    outcomes(page, "orbitkv_peer_calls_taken_total", "Calls to this host, by outcome.", taken);
    page.family("orbitkv_peer_reachable", GAUGE, "1 while a peer is called, 0 while left alone.");
    cluster
        .breakers()
        .forEach(
            (node, state) ->
                page.sample(
                    "orbitkv_peer_reachable",
                    "peer",
                    node.text(),
                    state == CircuitBreaker.State.CLOSED ? 1 : 0));
  }

  private static void outcomes(
      PrometheusText page, String name, String help, Map<String, Long> counts) {
    page.family(name, COUNTER, help);
    counts.forEach(
        (outcome, count) -> page.sample(name, "outcome", outcome.toLowerCase(Locale.ROOT), count));
  }

  private static void transfers(PrometheusText page, TransferStats stats) {
    page.single("orbitkv_transfer_reads_total", COUNTER, "Reads begun.", stats.readsBegun());
    page.single("orbitkv_transfer_reads_done_total", COUNTER, "Reads done.", stats.readsDone());
    page.single("orbitkv_transfer_read_bytes_total", COUNTER, "Bytes read.", stats.bytesRead());
    page.single(
        "orbitkv_transfer_served_bytes_total",
        COUNTER,
        "Bytes sent to other hosts.",
        stats.bytesServed());
    page.single(
        "orbitkv_transfer_in_flight_bytes",
        GAUGE,
        "Bytes of destinations that are not released.",
        stats.bytesInFlight());
    page.single(
        "orbitkv_transfer_quarantined_reads",
        GAUGE,
        "Reads that are over and whose destination is not released.",
        stats.readsInQuarantine());
    page.single("orbitkv_transfer_grants", GAUGE, "Grants that live or drain.", stats.grants());
    page.single(
        "orbitkv_transfer_granted_reads",
        GAUGE,
        "Reads of other hosts under way.",
        stats.grantedReads());
    page.family("orbitkv_transfer_failures_total", COUNTER, "Reads that failed, by failure.");
    stats
        .failures()
        .forEach(
            (failure, count) ->
                page.sample("orbitkv_transfer_failures_total", "failure", failure, count));
    page.family("orbitkv_transfer_refusals_total", COUNTER, "What was refused to others.");
    stats
        .refusals()
        .forEach(
            (refusal, count) ->
                page.sample(
                    "orbitkv_transfer_refusals_total",
                    "refusal",
                    refusal.name().toLowerCase(Locale.ROOT),
                    count));
  }
}
