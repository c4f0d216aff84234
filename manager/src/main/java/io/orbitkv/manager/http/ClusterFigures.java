package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.catalog.inventory.OwnerProgress;
import io.orbitkv.catalog.inventory.SenderStatus;
import io.orbitkv.catalog.inventory.TableStats;
import io.orbitkv.catalog.lookup.LookupFigures;
import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.catalog.raft.ReplicaStatus;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.transfer.TransferStats;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** This host among others, as JSON for {@code /status} and the cluster's own paths. */
final class ClusterFigures {
  private ClusterFigures() {}

  /** The section of {@code /status}. */
  static void status(ObjectNode body, Cluster cluster) {
    ObjectNode node = body.putObject("cluster");
    node.put("node", cluster.config().node().text())
        .put("cluster", cluster.config().cluster())
        .put("runtime", cluster.runtime().toString())
        .put("members", cluster.members().members().size());
    admission(node, cluster.admission());
    node.putObject("inventory")
        .put("position", cluster.inventory().position())
        .put("behindFacts", cluster.inventoryBehind())
        .put("rows", cluster.inventory().rows())
        .put("bytes", cluster.inventory().bytes());
    node.putObject("streams")
        .put("open", cluster.streams().stream().filter(ClusterFigures::isCurrent).count())
        .put("all", cluster.streams().size())
        .put("mostBehind", mostBehind(cluster));
    TableStats tables = tables(cluster);
    node.putObject("catalog")
        .put("founded", cluster.isFounded())
        .put("shardsServed", cluster.tables().size())
        .put("visibleRows", tables.visibleRows())
        .put("stagingRows", tables.stagingRows())
        .put("deadRows", tables.deadRows())
        .put("bytes", tables.bytes());
    lookups(node.putObject("lookups"), cluster.lookup().figures());
    transfer(node.putObject("transfer"), cluster);
  }

  private static void admission(ObjectNode node, RemoteAdmission admission) {
    ObjectNode state = node.putObject("admission");
    switch (admission) {
      case RemoteAdmission.Open(Instant since) ->
          state.put("state", "OPEN").put("reason", "").put("sinceMillis", since.toEpochMilli());
      case RemoteAdmission.Fenced(String reason, Instant since) ->
          state
              .put("state", "FENCED")
              .put("reason", reason)
              .put("sinceMillis", since.toEpochMilli());
    }
  }

  private static void lookups(ObjectNode node, LookupFigures figures) {
    node.put("keys", figures.keys())
        .put("fromIndex", figures.fromIndex())
        .put("fromHere", figures.fromHere())
        .put("questions", figures.questions())
        .put("failures", figures.failures())
        .put("stale", figures.stale())
        .put("unanswered", figures.unanswered());
  }

  private static void transfer(ObjectNode node, Cluster cluster) {
    TransferStats stats = cluster.transfer().stats();
    node.put("carrier", cluster.transfer().carrier().name())
        .put("reason", cluster.transfer().carrier().reason())
        .put("readsBegun", stats.readsBegun())
        .put("readsDone", stats.readsDone())
        .put("bytesRead", stats.bytesRead())
        .put("bytesInFlight", stats.bytesInFlight())
        .put("readsInQuarantine", stats.readsInQuarantine())
        .put("requestsServed", stats.requestsServed())
        .put("bytesServed", stats.bytesServed())
        .put("grants", stats.grants())
        .put("grantedReads", stats.grantedReads());
    ObjectNode failures = node.putObject("failures");
    stats.failures().forEach(failures::put);
    ObjectNode refusals = node.putObject("refusals");
    stats.refusals().forEach((refusal, count) -> refusals.put(refusal.name(), count));
  }

  /** {@code /cluster/members}. */
  static ObjectNode members(Cluster cluster) {
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("node", cluster.config().node().text())
        .put("cluster", cluster.config().cluster())
        .put("revision", cluster.members().revision());
    admission(body, cluster.admission());
    Optional<HostSet> hosts = cluster.members().hosts();
    ArrayNode set = body.putArray("catalogHosts");
    hosts.ifPresent(agreed -> agreed.hosts().forEach(host -> set.add(host.text())));
    body.put("replicationFactor", hosts.map(HostSet::replicationFactor).orElse(0));
    ArrayNode list = body.putArray("members");
    for (MemberRecord member : cluster.members().members().values()) {
      NodeId node = member.node();
      long placed =
          cluster.placements().stream()
              .filter(placement -> placement.members().contains(node))
              .count();
      list.addObject()
          .put("node", node.text())
          .put("self", node.equals(cluster.config().node()))
          .put("epoch", member.epoch())
          .put("runtime", member.runtime().toString())
          .put("peer", member.peer().toString())
          .put("transfer", member.transfer().toString())
          .put("carrier", member.carrier().name())
          .put("catalogShards", cluster.isFounded() ? placed : 0)
          .put(
              "calls",
              Optional.ofNullable(cluster.breakers().get(node)).map(Enum::name).orElse("NONE"));
    }
    return body;
  }

  /** {@code /cluster/streams}: what this host sends, and what it receives. */
  static ObjectNode streams(Cluster cluster) {
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("position", cluster.inventory().position())
        .put("behindFacts", cluster.inventoryBehind());
    ArrayNode sent = body.putArray("sent");
    for (SenderStatus stream : cluster.streams()) {
      sent.addObject()
          .put("catalogShard", stream.catalogShard())
          .put("replica", stream.replica().text())
          .put("phase", stream.phase().name())
          .put("acknowledged", stream.acknowledged().orElse(-1))
          .put("behind", stream.behind())
          .put("opened", stream.opened())
          .put("snapshots", stream.snapshots())
          .put("framesSent", stream.framesSent())
          .put("lastProblem", stream.lastProblem());
    }
    ArrayNode received = body.putArray("received");
    for (InventoryTable table : cluster.tables().values()) {
      for (OwnerProgress owner : table.progress()) {
        received
            .addObject()
            .put("catalogShard", table.catalogShard())
            .put("owner", owner.run().node().text())
            .put("epoch", owner.run().epoch())
            .put("position", owner.position().orElse(-1))
            .put("whole", owner.isWhole())
            .put("rows", owner.rows())
            .put("stagingRows", owner.stagingRows());
      }
    }
    return body;
  }

  /** {@code /catalog/placement}: as this host knows it. */
  static ObjectNode placement(Cluster cluster) {
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("founded", cluster.isFounded());
    ArrayNode list = body.putArray("placements");
    Map<Integer, ReplicaStatus> replicas = new TreeMap<>();
    cluster.replicas().forEach(replica -> replicas.put(replica.catalogShard(), replica));
    if (cluster.isFounded()) {
      for (Placement placement : cluster.placements()) {
        ObjectNode each =
            list.addObject()
                .put("catalogShard", placement.catalogShard())
                .put("generation", placement.generation());
        ArrayNode members = each.putArray("members");
        placement.members().forEach(member -> members.add(member.text()));
        each.put("here", cluster.tables().containsKey(placement.catalogShard()));
        cluster
            .handoff(placement.catalogShard())
            .ifPresent(
                handoff ->
                    each.put("attempt", handoff.attempt())
                        .put("step", handoff.step().name())
                        .put("progress", handoff.former() + " to " + handoff.target()));
        ReplicaStatus replica = replicas.get(placement.catalogShard());
        if (replica != null) {
          each.put("role", replica.role())
              .put("leader", replica.leader().orElse(""))
              .put("term", replica.term())
              .put("committed", replica.committed())
              .put("applied", replica.applied())
              .put("logBytes", replica.logBytes());
        }
      }
    }
    return body;
  }

  static boolean isCurrent(SenderStatus stream) {
    return stream.phase() == SenderStatus.Phase.CHANGES;
  }

  /** Positions that the slowest replica is behind, 0 without streams. */
  static long mostBehind(Cluster cluster) {
    return cluster.streams().stream().mapToLong(SenderStatus::behind).max().orElse(0);
  }

  /** All tables together. */
  static TableStats tables(Cluster cluster) {
    long visible = 0;
    long staging = 0;
    long dead = 0;
    long bytes = 0;
    for (InventoryTable table : cluster.tables().values()) {
      TableStats stats = table.stats();
      visible += stats.visibleRows();
      staging += stats.stagingRows();
      dead += stats.deadRows();
      bytes += stats.bytes();
    }
    return new TableStats(visible, staging, dead, bytes);
  }
}
