package io.orbitkv.core;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.copy.PublishCopy;
import io.orbitkv.core.copy.RestoreCopy;
import io.orbitkv.core.copy.VerifyCopy;
import io.orbitkv.core.eviction.EvictionPolicy;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.remote.RemoteEvents;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.DigestRecorded;
import io.orbitkv.state.HostEvent.EpochEnded;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostState;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The rule of the Manager in one place: a command is decided on the state as it is, the facts are
 * appended and applied, and only then follow effects and answers.
 *
 * <p>Each family of operations has its own class; this one hands commands, ended copies and due
 * timers to them, and after each does what follows by itself: tickets whose blocks have come,
 * sessions that have drained, registrations that waited for those, namespaces nobody uses any more,
 * the periodic digest.
 *
 * <p>Not thread-safe; the loop's thread or a test steps it.
 */
final class Decider implements RemoteEvents {
  /** The longest name of a host, and what the codec needs beside it. */
  private static final int NODE_ID_BYTES = 80;

  private static final int TIMERS_PER_STEP = 256;

  private final Host host;
  private final TicketBook book = new TicketBook();
  private final LeaseDecisions leases;
  private final TicketDecisions tickets;
  private final EvictionDecisions evictions;
  private final PublishDecisions publishes;
  private final RestoreDecisions restores;
  private final SessionDecisions sessions;
  private final RegisterDecisions registrations;
  private final Inspections inspections;
  private final RestartDecisions restart;
  private final @Nullable TierDecisions tier;
  private final AdoptionDecisions adoptions;
  private final @Nullable FetchDecisions fetches;
  private final @Nullable GrantDecisions grants;

  private final List<ReplySink> shutdownSinks = new ArrayList<>();
  private String shutdownReason = "";
  private boolean started;
  private boolean ended;

  Decider(
      HostConfig config,
      String version,
      HostState state,
      FactLog log,
      Clock clock,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener,
      @Nullable SsdTier ssd,
      PoolId poolId,
      @Nullable Peers peers) {
    host =
        new Host(
            config, state, log, clock, policy, extents, pool, copies, listener, ssd, poolId, peers);
    host.startedMicros = clock.monotonicMicros();
    leases = new LeaseDecisions(host);
    evictions = new EvictionDecisions(host, book);
    tier = host.tier == null ? null : new TierDecisions(host, host.tier, evictions, book);
    adoptions = new AdoptionDecisions(host, book, tier);
    QueryDecisions queries = new QueryDecisions(host, leases, tier);
    fetches =
        host.peers == null ? null : new FetchDecisions(host, host.peers, evictions, book, tier);
    grants = host.peers == null ? null : new GrantDecisions(host, host.peers, tier);
    tickets = new TicketDecisions(host, queries, leases, book, tier, adoptions, fetches);
    publishes = new PublishDecisions(host, evictions, book, tier);
    restores = new RestoreDecisions(host, leases, evictions);
    sessions = new SessionDecisions(host, leases, tickets);
    registrations = new RegisterDecisions(host, sessions);
    inspections = new Inspections(host);
    restart = new RestartDecisions(host, version);
  }

  /**
   * Does a part of what an epoch begins with; false when there is no more and commands may come.
   */
  boolean start() {
    if (started || restart.step()) {
      return !started;
    }
    started = true;
    host.ownExtents();
    RecoveredNamespaces.bind(host);
    if (tier != null) {
      tier.recover(restart.takeSlots());
    }
    adoptions.recover();
    recordDigest();
    return false;
  }

  void handle(Command command) {
    if (ended) {
      refuseAfterEnd(command);
      return;
    }
    switch (command) {
      case Command.Register register -> registrations.register(register);
      case Command.CloseSession close -> sessions.close(close);
      case Command.CleanupInstance cleanup -> sessions.cleanup(cleanup);
      case Command.Query query -> tickets.query(query);
      case Command.Poll poll -> tickets.poll(poll);
      case Command.Cancel cancel -> cancel(cancel);
      case Command.Publish publish -> publishes.publish(publish);
      case Command.Restore restore -> restores.restore(restore);
      case Command.Release release -> leases.release(release);
      case Command.Evict evict -> evictions.evict(evict);
      case Command.Inspect inspect ->
          host.reply(inspect.replyTo(), new Reply.Inspected(inspections.answer(inspect.what())));
      case Command.Shutdown shutdown -> shutDown(shutdown);
      case Command.CopyDone done -> copyEnded(done.task());
      case Command.SsdDone done -> Objects.requireNonNull(tier).ended(done.task());
      case Command.AuthorizeGrant ask -> {
        if (grants == null) {
          host.reply(ask.replyTo(), alone());
        } else {
          grants.authorize(ask);
        }
      }
      case Command.ReleaseGrant ask -> {
        if (grants == null) {
          host.reply(ask.replyTo(), alone());
        } else {
          grants.release(ask);
        }
      }
      case Command.NotePlacement seen -> {
        // Nothing depends on it: a full journal or an epoch that ends goes without.
        if (!host.draining && host.hasRoom(1, (long) NODE_ID_BYTES * seen.members().size())) {
          host.emit(
              new HostEvent.PlacementSeen(seen.catalogShard(), seen.generation(), seen.members()));
        }
      }
      case Command.PeerGone gone -> {
        if (grants != null) {
          grants.peerGone(gone);
        }
      }
    }
    settle();
  }

  private static Reply alone() {
    return new Reply.GrantRefused(GrantRefusal.ALONE, "this host works alone");
  }

  /** Commands that came in the same cycle behind the last one of the epoch. */
  private void refuseAfterEnd(Command command) {
    if (command instanceof Command.Register register && register.buffers() != null) {
      register.buffers().close();
    }
    if (command instanceof Command.Shutdown shutdown) {
      host.reply(shutdown.replyTo(), new Reply.ShutDown(host.state.position()));
    } else if (command instanceof Command.Request request) {
      host.reply(
          request.replyTo(), new Reply.Refused(RefusalCode.DRAINING, "the daemon has stopped"));
    }
  }

  private void copyEnded(CopyTask task) {
    switch (task) {
      case PublishCopy copy ->
          publishes.ended(Objects.requireNonNull(host.publishes.get(copy.operationId())));
      case RestoreCopy copy ->
          restores.ended(Objects.requireNonNull(host.restores.get(copy.operationId())));
      case VerifyCopy look -> adoptions.ended(look);
    }
  }

  /** Lets what is due happen; returns how much was. */
  int timers() {
    int due = host.timers.takeDue(host.clock.monotonicMicros(), TIMERS_PER_STEP, this::due);
    if (due > 0) {
      settle();
    }
    return due;
  }

  private void due(Timer timer) {
    switch (timer) {
      case LiveLease lease -> leases.expire(lease);
      case LiveTicket ticket -> tickets.expire(ticket);
      case UnsealedBlocks blocks -> evictions.unsealedDue(blocks);
      case WaitingRegistration waits -> registrations.expire(waits);
      case AdoptionRetry _ -> adoptions.go();
      case TierWatch _ -> Objects.requireNonNull(tier).watchDue();
      case TierRetry _ -> Objects.requireNonNull(tier).retryDue();
      case LiveFetch fetch -> Objects.requireNonNull(fetches).due(fetch);
      case LiveGrant grant -> Objects.requireNonNull(grants).due(grant);
      case StagedGrant asked -> Objects.requireNonNull(grants).due(asked);
      case PeerDrain drain -> drain.over = true;
    }
  }

  /** Goes on with evictions that are cut in parts. */
  int background() {
    if (ended) {
      return 0; // by a timer of the same cycle
    }
    int looked = evictions.step();
    if (looked > 0) {
      settle();
    }
    return looked;
  }

  /** Ends the batch and sends its answers. */
  int endBatch() {
    return host.endBatch();
  }

  long nextDeadlineMicros() {
    return evictions.idle() ? host.timers.nextDeadlineMicros() : Long.MIN_VALUE;
  }

  long position() {
    return host.state.position();
  }

  /** The epoch has ended; nothing may be handled any more. */
  boolean ended() {
    return ended;
  }

  // ---- cancel
  // ------------------------------------------------------------------------------------------------------

  private void cancel(Command.Cancel command) {
    LiveSession session = host.openSession(command);
    if (session != null) {
      host.reply(command.replyTo(), new Reply.CancelTaken(cancel(session, command.target())));
    }
  }

  private boolean cancel(LiveSession session, CancelTarget target) {
    return switch (target) {
      case CancelTarget.Ticket(long ticketId) -> {
        LiveTicket ticket = host.tickets.get(ticketId);
        yield ticket != null && ticket.session == session && cancel(ticket);
      }
      case CancelTarget.AnsweredTo(ReplySink sink) -> cancelAnsweredTo(session, sink);
    };
  }

  private boolean cancel(LiveTicket ticket) {
    tickets.cancel(ticket);
    return true;
  }

  private boolean cancelAnsweredTo(LiveSession session, ReplySink sink) {
    if (tickets.cancelAnsweredTo(session, sink)) {
      return true;
    }
    for (LivePublish publish : session.publishes) {
      if (publish.replyTo().equals(sink)) {
        publish.copy().cancel();
        return true;
      }
    }
    for (LiveRestore restore : session.restores) {
      if (restore.replyTo().equals(sink)) {
        restore.copy().cancel();
        return true;
      }
    }
    return false;
  }

  // ---- what follows by itself
  // --------------------------------------------------------------------------------------

  private void settle() {
    do {
      host.placesFreed = false;
      tickets.answerReady();
      if (grants != null) {
        grants.answerStaged();
      }
      closeDrained();
      if (host.placesFreed) {
        registrations.retry();
      }
    } while (host.placesFreed);
    sessions.unbindOrphans();
    if (host.factsSinceDigest >= host.config.digestEveryFacts()) {
      recordDigest();
    }
    if (host.draining && host.instances.isEmpty() && diskDrained() && peersDrained() && !ended) {
      endEpoch();
    }
  }

  /** Nothing is under way to or from SSD, or nobody knows when it will end. */
  private boolean diskDrained() {
    return host.tier == null || host.tier.idle() || host.tier.hanging;
  }

  /** Nothing is under way between this host and others, or nobody knows when it will end. */
  private boolean peersDrained() {
    return host.peers == null || host.peers.idle();
  }

  private void closeDrained() {
    if (host.ending.isEmpty()) {
      return;
    }
    for (LiveSession session : List.copyOf(host.ending)) {
      if (host.ending.contains(session) && sessions.drainedWithAttached(session)) {
        registrations.succeed(session);
        if (host.ending.contains(session)) {
          sessions.close(session);
        }
      }
    }
  }

  private void recordDigest() {
    host.emit(
        new DigestRecorded(host.state.digest(), host.state.liveBlocks(), host.state.openLeases()));
    host.factsSinceDigest = 0;
  }

  // ---- shutdown
  // ----------------------------------------------------------------------------------------------------

  private void shutDown(Command.Shutdown command) {
    shutdownSinks.add(command.replyTo());
    if (host.draining) {
      return;
    }
    host.draining = true;
    shutdownReason = command.reason();
    registrations.refuseWaiting();
    if (fetches != null && grants != null) {
      fetches.stopAll();
      grants.shutDown();
    }
    for (LiveInstance instance : List.copyOf(host.instances.values())) {
      sessions.cleanup(instance, CleanupReason.SHUTDOWN, SessionEnd.SHUTDOWN);
    }
  }

  private void endEpoch() {
    ended = true;
    evictions.refuseWaiting();
    recordDigest();
    host.emit(new EpochEnded(host.state.epoch(), shutdownReason));
    for (ReplySink sink : shutdownSinks) {
      host.reply(sink, new Reply.ShutDown(host.state.position()));
    }
  }

  // ---- other hosts
  // -------------------------------------------------------------------------------------------------

  @Override
  public void found(RemoteLookup lookup) {
    tickets.found(lookup);
    settle();
  }

  @Override
  public void failed(RemoteRead read) {
    Objects.requireNonNull(fetches).failed(read);
    settle();
  }

  @Override
  public void ended(RemoteRead read) {
    Objects.requireNonNull(fetches).ended(read);
    settle();
  }

  @Override
  public void drained(UUID grantId, long reads) {
    Objects.requireNonNull(grants).drained(grantId, reads);
    settle();
  }

  AdoptionReport adoption() {
    return adoptions.report();
  }

  /** For invariant checks of tests: the state that the decisions run on. */
  Host host() {
    return host;
  }

  @Nullable LiveSession session(long sessionId) {
    return host.sessions.get(sessionId);
  }
}
