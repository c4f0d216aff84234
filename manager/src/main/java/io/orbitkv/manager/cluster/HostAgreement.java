package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.membership.HostsOutcome;
import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.catalog.membership.Membership;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Founds the catalog: once as many hosts are there as hold each part of it, and none has come or
 * gone for a moment, so that hosts that are started together are all in it, it proposes them as the
 * host set. Every host does so; the first proposal stays. Stepped by one thread.
 */
final class HostAgreement {
  private static final Logger LOG = LoggerFactory.getLogger(HostAgreement.class);
  private static final long SETTLED_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long SAY_NANOS = Duration.ofSeconds(10).toNanos();

  private final Membership membership;
  private final int replicationFactor;
  private final LongSupplier clock;
  private Set<NodeId> seen = Set.of();
  private long seenSince;
  private long saidAt;
  private @Nullable CompletableFuture<HostsOutcome> proposal;

  HostAgreement(Membership membership, int replicationFactor, LongSupplier clock) {
    this.membership = membership;
    this.replicationFactor = replicationFactor;
    this.clock = clock;
    this.seenSince = clock.getAsLong();
    this.saidAt = seenSince;
  }

  /** Does what is due while there is no host set. */
  void step() {
    MemberSnapshot now = membership.snapshot();
    CompletableFuture<HostsOutcome> open = proposal;
    if (now.hosts().isPresent() || !membership.admission().isOpen()) {
      return;
    }
    if (open != null) {
      if (open.isDone()) {
        proposal = null;
        if (open.join() instanceof HostsOutcome.Refused(var refusal)) {
          LOG.warn("catalog: the host set was not agreed on: {}", refusal);
        }
      }
      return;
    }
    Set<NodeId> hosts = Set.copyOf(now.members().keySet());
    long nanos = clock.getAsLong();
    if (!hosts.equals(seen)) {
      seen = hosts;
      seenSince = nanos;
    }
    if (hosts.size() >= replicationFactor && nanos - seenSince > SETTLED_NANOS) {
      proposal = membership.agreeHosts(new HostSet(List.copyOf(hosts), replicationFactor));
    } else if (hosts.size() < replicationFactor && nanos - saidAt > SAY_NANOS) {
      saidAt = nanos;
      LOG.info(
          "catalog: waits for {} hosts, here are {}", replicationFactor, now.members().keySet());
    }
  }
}
