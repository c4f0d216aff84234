package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.state.catalog.NodeId;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once in the log what changed among the hosts. Belongs to one thread. */
final class MembershipLog {
  private static final Logger LOG = LoggerFactory.getLogger(MembershipLog.class);

  private Map<NodeId, MemberRecord> members = new TreeMap<>();
  private boolean wasOpen;

  void look(MemberSnapshot snapshot, RemoteAdmission admission) {
    switch (admission) {
      case RemoteAdmission.Open _ -> {
        if (!wasOpen) {
          LOG.info("cluster: work with other hosts may begin");
        }
      }
      case RemoteAdmission.Fenced(String reason, Instant _) -> {
        if (wasOpen) {
          LOG.warn("cluster: FENCED, no work with other hosts begins: {}", reason);
        }
      }
    }
    wasOpen = admission.isOpen();
    if (snapshot.members().equals(members)) {
      return;
    }
    snapshot
        .members()
        .forEach(
            (node, record) -> {
              MemberRecord before = members.get(node);
              if (before == null || !before.run().equals(record.run())) {
                LOG.info(
                    "cluster: member {} epoch={} peer={} transfer={} ({}) runtime={}",
                    node,
                    record.epoch(),
                    record.peer(),
                    record.transfer(),
                    record.carrier().name(),
                    record.runtime());
              }
            });
    members.keySet().stream()
        .filter(node -> !snapshot.members().containsKey(node))
        .forEach(node -> LOG.warn("cluster: member {} is gone", node));
    members = new TreeMap<>(snapshot.members());
  }
}
