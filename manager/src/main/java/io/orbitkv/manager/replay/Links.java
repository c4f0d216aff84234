package io.orbitkv.manager.replay;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the open leases, tickets, publishes and restores belong to, so that a fact that only names
 * one of them can be told by session, request and block. It holds what is open, and works where the
 * state cannot be folded.
 */
final class Links {
  /**
   * Where something open came from.
   *
   * @param position the fact that opened it
   */
  record Link(
      long sessionId,
      String request,
      long leaseId,
      List<LongRanges> blocks,
      long position,
      long atMicros) {}

  /**
   * Whom a fact concerns; 0 and empty where it concerns none, or where what it ends was opened
   * before the journal's oldest fact.
   *
   * @param opened what the fact ends, if it ends something
   */
  record Scope(
      long sessionId,
      long instanceId,
      String request,
      long leaseId,
      List<LongRanges> blocks,
      @Nullable Link opened) {

    boolean concernsBlock(long blockId) {
      return blocks.stream().anyMatch(ranges -> ranges.contains(blockId));
    }
  }

  private final Map<Long, Link> leases = new HashMap<>();
  private final Map<Long, Link> tickets = new HashMap<>();
  private final Map<Long, Link> publishes = new HashMap<>();
  private final Map<Long, Link> restores = new HashMap<>();
  private final Map<Long, Link> grants = new HashMap<>();
  private final Map<Long, Link> remoteReads = new HashMap<>();

  void seed(HostState state) {
    state
        .leases()
        .forEach(
            open ->
                leases.put(
                    open.id(),
                    new Link(
                        open.sessionId(),
                        open.request(),
                        open.id(),
                        blocks(open.held()),
                        open.position(),
                        open.atMicros())));
    state
        .tickets()
        .forEach(
            open ->
                tickets.put(
                    open.id(),
                    new Link(
                        open.sessionId(),
                        open.request(),
                        0,
                        List.of(open.awaited()),
                        open.position(),
                        open.atMicros())));
    state
        .publishes()
        .forEach(
            open ->
                publishes.put(
                    open.id(),
                    new Link(
                        open.sessionId(),
                        open.request(),
                        0,
                        List.of(open.blocks()),
                        open.position(),
                        open.atMicros())));
    state
        .restores()
        .forEach(
            open -> {
              Link lease = leases.get(open.leaseId());
              restores.put(
                  open.id(),
                  new Link(
                      open.sessionId(),
                      lease == null ? "" : lease.request,
                      open.leaseId(),
                      blocks(open.held()),
                      open.position(),
                      open.atMicros()));
            });
    state
        .grants()
        .forEach(
            open ->
                grants.put(
                    open.id(),
                    new Link(0, "", 0, List.of(open.blocks()), open.position(), open.atMicros())));
    state
        .remoteReads()
        .forEach(
            open ->
                remoteReads.put(
                    open.id(),
                    new Link(
                        open.forSessionId(),
                        open.forRequest(),
                        0,
                        List.of(open.blocks()),
                        open.position(),
                        open.atMicros())));
  }

  private static List<LongRanges> blocks(HostEvent.RemoteReadBegun event) {
    return event.groups().stream()
        .map(group -> LongRanges.of(group.firstBlockId(), group.keys().size()))
        .toList();
  }

  static List<LongRanges> blocks(List<GroupLease> held) {
    return held.stream().map(GroupLease::blocks).toList();
  }

  /** Takes in what a fact opens; called before the fact is looked at. */
  void open(Fact fact) {
    switch (fact.event()) {
      case HostEvent.LeaseGranted event ->
          leases.put(
              event.leaseId(),
              link(
                  fact, event.sessionId(), event.request(), event.leaseId(), blocks(event.held())));
      case HostEvent.TicketOpened event ->
          tickets.put(
              event.ticketId(),
              link(fact, event.sessionId(), event.request(), 0, List.of(event.awaited())));
      case HostEvent.SlicesReserved event ->
          publishes.put(
              event.publishId(),
              link(fact, event.sessionId(), event.request(), 0, List.of(event.blocks())));
      case HostEvent.RestoreStarted event -> {
        Link lease = leases.get(event.leaseId());
        restores.put(
            event.restoreId(),
            link(
                fact,
                event.sessionId(),
                lease == null ? "" : lease.request,
                event.leaseId(),
                lease == null ? List.of() : lease.blocks));
      }
      case HostEvent.GrantOpened event ->
          grants.put(event.grantId(), link(fact, 0, "", 0, List.of(event.blocks())));
      case HostEvent.RemoteReadBegun event ->
          remoteReads.put(
              event.readId(),
              link(fact, event.forSessionId(), event.forRequest(), 0, blocks(event)));
      default -> {}
    }
  }

  private static Link link(
      Fact fact, long sessionId, String request, long leaseId, List<LongRanges> blocks) {
    return new Link(sessionId, request, leaseId, blocks, fact.position(), fact.atMicros());
  }

  /** Forgets what a fact ended; called after the fact was looked at. */
  void close(Fact fact) {
    switch (fact.event()) {
      case HostEvent.LeaseReleased event -> leases.remove(event.leaseId());
      case HostEvent.TicketClosed event -> tickets.remove(event.ticketId());
      case HostEvent.SlicesPublished event -> publishes.remove(event.publishId());
      case HostEvent.PublishAborted event -> publishes.remove(event.publishId());
      case HostEvent.RestoreFinished event -> restores.remove(event.restoreId());
      case HostEvent.GrantClosed event -> grants.remove(event.grantId());
      case HostEvent.RemoteReadEnded event -> remoteReads.remove(event.readId());
      default -> {}
    }
  }

  /** Whom a fact concerns; between {@link #open} and {@link #close} of it. */
  Scope scope(Fact fact, Names names) {
    return switch (fact.event()) {
      case HostEvent.EpochStarted _,
          HostEvent.EpochEnded _,
          HostEvent.NamespaceBound _,
          HostEvent.NamespaceUnbound _,
          HostEvent.RegistrationRefused _,
          HostEvent.PlacementSeen _,
          HostEvent.DigestRecorded _ ->
          scope(names, 0, "", 0, List.of());
      case HostEvent.TierFact event -> tierScope(event, names);
      case HostEvent.PeerFact event -> peerScope(event, names);
      case HostEvent.InstanceRegistered event ->
          new Scope(0, event.instanceId(), "", 0, List.of(), null);
      case HostEvent.InstanceCleaned event ->
          new Scope(0, event.instanceId(), "", 0, List.of(), null);
      case HostEvent.SessionOpened event -> scope(names, event.sessionId(), "", 0, List.of());
      case HostEvent.SessionClosed event -> scope(names, event.sessionId(), "", 0, List.of());
      case HostEvent.SlicesReserved event ->
          scope(names, event.sessionId(), event.request(), 0, List.of(event.blocks()));
      case HostEvent.SlicesPublished event -> scope(names, publishes.get(event.publishId()));
      case HostEvent.PublishAborted event -> scope(names, publishes.get(event.publishId()));
      case HostEvent.BlocksEvicted event ->
          scope(names, event.forSessionId(), event.forRequest(), 0, List.of(event.blocks()));
      case HostEvent.LeaseGranted event ->
          scope(names, event.sessionId(), event.request(), event.leaseId(), blocks(event.held()));
      case HostEvent.LeaseReleased event ->
          orLease(scope(names, leases.get(event.leaseId())), event.leaseId());
      case HostEvent.TicketOpened event ->
          scope(names, event.sessionId(), event.request(), 0, List.of(event.awaited()));
      case HostEvent.TicketClosed event ->
          orLease(scope(names, tickets.get(event.ticketId())), event.leaseId());
      case HostEvent.RestoreStarted event ->
          orLease(scope(names, restores.get(event.restoreId())), event.leaseId());
      case HostEvent.RestoreFinished event -> scope(names, restores.get(event.restoreId()));
      case HostEvent.QueryMissed event ->
          scope(names, event.sessionId(), event.request(), 0, List.of());
      case HostEvent.RequestRefused event ->
          scope(names, event.sessionId(), event.request(), 0, List.of());
      case HostEvent.VerifyFailed event -> {
        Scope restore = scope(names, restores.get(event.restoreId()));
        yield new Scope(
            restore.sessionId,
            restore.instanceId,
            restore.request,
            restore.leaseId,
            List.of(LongRanges.of(event.blockId(), 1)),
            null);
      }
    };
  }

  private static Scope tierScope(HostEvent.TierFact fact, Names names) {
    return switch (fact) {
      case HostEvent.SsdTierOpened _,
          HostEvent.LayersBound _,
          HostEvent.TierDegraded _,
          HostEvent.TierRecovered _,
          HostEvent.PoolOpened _ ->
          scope(names, 0, "", 0, List.of());
      case HostEvent.SsdSkipped event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.SsdWritten event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.SsdEvicted event ->
          scope(names, event.forSessionId(), event.forRequest(), 0, List.of(event.blocks()));
      case HostEvent.BlocksDemoted event ->
          scope(names, event.forSessionId(), event.forRequest(), 0, List.of(event.blocks()));
      case HostEvent.BlocksLoading event ->
          scope(names, event.forSessionId(), event.forRequest(), 0, List.of(event.blocks()));
      case HostEvent.BlocksLoaded event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.LoadFailed event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.BlocksKept event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.BlocksAdopted event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.BlocksNotAdopted event -> scope(names, 0, "", 0, List.of(event.blocks()));
    };
  }

  private Scope peerScope(HostEvent.PeerFact fact, Names names) {
    return switch (fact) {
      case HostEvent.GrantOpened event -> scope(names, 0, "", 0, List.of(event.blocks()));
      case HostEvent.GrantClosed event -> scope(names, grants.get(event.grantId()));
      case HostEvent.RemoteReadBegun event ->
          scope(names, event.forSessionId(), event.forRequest(), 0, blocks(event));
      case HostEvent.RemoteReadQuarantined event -> scope(names, remoteReads.get(event.readId()));
      case HostEvent.RemoteReadEnded event -> scope(names, remoteReads.get(event.readId()));
    };
  }

  private static Scope orLease(Scope scope, long leaseId) {
    return scope.leaseId != 0
        ? scope
        : new Scope(
            scope.sessionId, scope.instanceId, scope.request, leaseId, scope.blocks, scope.opened);
  }

  private static Scope scope(Names names, @Nullable Link link) {
    return link == null
        ? new Scope(0, 0, "", 0, List.of(), null)
        : new Scope(
            link.sessionId,
            names.instanceOf(link.sessionId),
            link.request,
            link.leaseId,
            link.blocks,
            link);
  }

  private static Scope scope(
      Names names, long sessionId, String request, long leaseId, List<LongRanges> blocks) {
    return new Scope(sessionId, names.instanceOf(sessionId), request, leaseId, blocks, null);
  }
}
