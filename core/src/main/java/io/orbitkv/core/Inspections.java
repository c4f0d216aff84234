package io.orbitkv.core;

import io.orbitkv.core.Inspection.BlockView;
import io.orbitkv.core.Inspection.InstanceView;
import io.orbitkv.core.Inspection.LeaseView;
import io.orbitkv.core.Inspection.NamespaceView;
import io.orbitkv.core.Inspection.PoolView;
import io.orbitkv.core.Inspection.SessionView;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.OpenLease;
import io.orbitkv.state.OpenSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** Consistent pictures of the state, for the command line and HTTP. */
final class Inspections {
  private static final int MAX_LISTED = 4_096;

  private final Host host;

  Inspections(Host host) {
    this.host = host;
  }

  Inspection.Answer answer(Inspection what) {
    return switch (what) {
      case Inspection.Status _ -> status();
      case Inspection.Instances _ -> instances();
      case Inspection.Namespaces _ -> namespaces();
      case Inspection.Sessions _ -> sessions();
      case Inspection.Leases(long after, int limit) -> leases(after, bounded(limit));
      case Inspection.Blocks(String namespace, long after, int limit) ->
          blocks(namespace, after, bounded(limit));
    };
  }

  private static int bounded(int limit) {
    return Math.clamp(limit, 0, MAX_LISTED);
  }

  private Inspection.StatusAnswer status() {
    HostState state = host.state;
    return new Inspection.StatusAnswer(
        state.epoch(),
        host.clock.monotonicMicros() - host.startedMicros,
        state.position(),
        state.digest(),
        host.draining,
        host.policy.name(),
        new PoolView(
            host.extents.poolBytes(),
            host.extents.usedBytes(),
            host.extents.freeBytes(),
            host.extents.largestFreeBytes(),
            host.extents.usedExtents(),
            host.extents.fragmentation()),
        host.namespaces.size(),
        host.instances.size(),
        host.sessions.size(),
        state.liveBlocks(),
        state.sealedBlocks(),
        state.openLeases(),
        state.openTickets(),
        state.openPublishes(),
        state.openRestores(),
        host.budget.usedBytes(),
        host.budget.limitBytes(),
        host.hasRoom(1, 0),
        host.tier == null ? null : ssd(host.tier));
  }

  private Inspection.SsdView ssd(LiveTier tier) {
    return new Inspection.SsdView(
        tier.extents.capacityBytes(),
        tier.extents.usedBytes(),
        tier.extents.usedExtents(),
        tier.policy.size(),
        host.state.ssdOnlyBlocks(),
        host.state.loadingBlocks(),
        tier.queuedBytes,
        tier.loadingBytes,
        tier.running.size(),
        tier.backlog.size(),
        tier.backlogBytes(),
        tier.aside.size(),
        tier.admittedBytes,
        tier.skippedBlocks,
        tier.refusedLoads,
        tier.readErrors,
        tier.writeErrors,
        tier.settings.admission().name().toLowerCase(Locale.ROOT),
        tier.report.problems());
  }

  private Inspection.InstancesAnswer instances() {
    List<InstanceView> views = new ArrayList<>();
    for (LiveInstance instance : host.instances.values()) {
      views.add(
          new InstanceView(
              instance.id,
              instance.name,
              instance.namespace.name.text(),
              instance.sessions.size(),
              instance.cleaning != null,
              instance.budget.usedBytes()));
    }
    return new Inspection.InstancesAnswer(List.copyOf(views));
  }

  private Inspection.NamespacesAnswer namespaces() {
    return new Inspection.NamespacesAnswer(
        host.state.namespaces().stream()
            .map(
                each ->
                    new NamespaceView(
                        each.name(),
                        each.format().modelDigest(),
                        each.shardCount(),
                        each.blocks(),
                        each.instances()))
            .toList());
  }

  private Inspection.SessionsAnswer sessions() {
    List<SessionView> views = new ArrayList<>();
    for (LiveSession session : host.sessions.values()) {
      OpenSession open = host.state.session(session.id);
      views.add(
          new SessionView(
              session.id,
              session.instance.id,
              session.instance.name,
              session.namespace().name.text(),
              session.shard,
              session.role,
              session.pid,
              session.uid,
              open == null ? 0 : open.atMicros(),
              !session.open(),
              session.leases.size(),
              session.tickets.size(),
              session.publishes.size(),
              session.restores.size()));
    }
    views.sort(Comparator.comparingLong(SessionView::sessionId));
    return new Inspection.SessionsAnswer(List.copyOf(views));
  }

  private Inspection.LeasesAnswer leases(long after, int limit) {
    List<LeaseView> views = new ArrayList<>();
    boolean more = false;
    for (OpenLease open : host.state.leases()) {
      LiveLease lease = host.leases.get(open.id());
      if (open.id() <= after || lease == null) {
        continue;
      }
      if (views.size() == limit) {
        more = true;
        break;
      }
      views.add(
          new LeaseView(
              open.id(),
              open.sessionId(),
              open.request(),
              open.blocks(),
              lease.chargedBytes,
              lease.runningRestores,
              open.expiresAtMicros()));
    }
    return new Inspection.LeasesAnswer(List.copyOf(views), more);
  }

  /** Walks all slots, which takes some milliseconds for a million blocks. */
  private Inspection.BlocksAnswer blocks(String namespace, long after, int limit) {
    HostState state = host.state;
    LiveNamespace in = host.namespaces.get(namespace);
    List<BlockView> views = new ArrayList<>();
    if (in == null) {
      return new Inspection.BlocksAnswer(List.of(), false);
    }
    SmallestIds ids = new SmallestIds(limit + 1);
    for (int slot = 0; slot < state.slotLimit(); slot++) {
      long id = state.blockId(slot);
      if (id > after && state.namespaceId(slot) == in.id) {
        ids.offer(id);
      }
    }
    long[] first = ids.ascending();
    for (int i = 0; i < Math.min(limit, first.length); i++) {
      views.add(view(namespace, state.slotOf(first[i])));
    }
    return new Inspection.BlocksAnswer(List.copyOf(views), first.length > limit);
  }

  private BlockView view(String namespace, int slot) {
    byte[] key = new byte[Keys.MAX_KEY_BYTES];
    host.state.copyKey(slot, key, 0);
    return new BlockView(
        host.state.blockId(slot),
        namespace,
        host.state.groupId(slot),
        HexFormat.of().formatHex(key, 0, host.state.keyBytes(slot)),
        host.state.blockState(slot),
        host.state.pins(slot),
        host.allocatedBytes(slot),
        host.state.onSsd(slot));
  }
}
