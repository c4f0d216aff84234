package io.orbitkv.catalog.membership;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * How a host takes part.
 *
 * @param etcd URIs of etcd, at least one
 * @param cluster a name for all hosts that belong together, of lower-case letters, digits and
 *     hyphens
 * @param node this host's node id
 * @param peer where peers call it
 * @param catalog where its Raft server listens
 * @param transfer where its bytes are read
 * @param carrier what moves them
 * @param runtime drawn at this start
 * @param leaseTtl after this long without a renewal others take it for gone, at least 2 s
 */
public record MembershipConfig(
    List<String> etcd,
    String cluster,
    NodeId node,
    Endpoint peer,
    Endpoint catalog,
    Endpoint transfer,
    TransferCarrier carrier,
    UUID runtime,
    Duration leaseTtl) {
  /** The lease that is taken without a choice. */
  public static final Duration DEFAULT_TTL = Duration.ofSeconds(6);

  /** Refuses what cannot work. */
  public MembershipConfig {
    etcd = List.copyOf(etcd);
    if (etcd.isEmpty()) {
      throw new IllegalArgumentException("no etcd endpoint");
    }
    if (!cluster.matches("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")) {
      throw new IllegalArgumentException("cluster name " + cluster);
    }
    if (leaseTtl.toSeconds() < 2) {
      throw new IllegalArgumentException("lease of " + leaseTtl + ", not 2 s or more");
    }
  }

  String prefix() {
    return "/orbitkv/" + cluster + "/";
  }
}
