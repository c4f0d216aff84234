package io.orbitkv.client;

import io.orbitkv.client.control.Cleaned;
import io.orbitkv.client.control.Health;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.client.wire.Flags;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.client.wire.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A session of an engine's process with the Manager of its host.
 *
 * <p>Safe for any number of threads; a lone thread pays for no handover. A call submits, rings and
 * sleeps until its answer comes or {@link ClientOptions#operationMillis} are over; it never spins.
 *
 * <p>When the Manager goes away every outstanding request ends as SESSION_LOST, requests meanwhile
 * are refused as DISCONNECTED, and a thread of this client connects and registers again with the
 * same declaration and buffers. Leases and tickets of before are dead: they are refused here as
 * STALE without asking. A session that was superseded or cleaned up does not come back.
 */
public final class OrbitClient implements AutoCloseable {
  private final ClientOptions options;
  private final Supervisor supervisor;
  private final List<OrbitClient> saveSessions = new ArrayList<>();

  private OrbitClient(ClientOptions options, Supervisor supervisor) {
    this.options = options;
    this.supervisor = supervisor;
  }

  /** Connects and registers; refused if that does not succeed at once. */
  public static Answer<OrbitClient> connect(ClientOptions options, Registration registration) {
    return start(options, Supervisor.of(options, registration));
  }

  /** A second session of this process for publishes, so that they never delay queries. */
  public synchronized Answer<OrbitClient> openSaveSession() {
    Answer<OrbitClient> answer =
        start(options.withClientName(options.clientName()), supervisor.attached());
    if (answer instanceof Answer.Ok<OrbitClient>(OrbitClient save)) {
      saveSessions.add(save);
    }
    return answer;
  }

  /** Asks for a sign of life; the Manager's monotonic clock in nanoseconds. */
  public Answer<Long> ping() {
    return number(Op.PING, 0, 0);
  }

  /** Asks what can be restored now, and leases it. */
  public QueryResult query(QueryRequest request) {
    return query(request, 0, 0);
  }

  /**
   * Asks what can be restored, waiting under a ticket for blocks that are on their way.
   *
   * @param ticketMillis how long the ticket lives, 0 for the Manager's default
   */
  public QueryResult queryWaiting(QueryRequest request, int ticketMillis) {
    return query(request, Flags.QUERY_WAIT, ticketMillis);
  }

  /**
   * The same, and a pending query of the same request name that asks something else ends for this
   * one; without it such a query is refused.
   */
  public QueryResult queryReplacing(QueryRequest request, int ticketMillis) {
    return query(request, Flags.QUERY_WAIT | Flags.QUERY_REPLACE, ticketMillis);
  }

  /**
   * Asks that what the request will need be brought into memory, and leases nothing. What was asked
   * is best effort, and ends with the deadline or {@link #cancel(PendingPrepare)}.
   *
   * @param deadlineMillis how long it may take, 0 for the Manager's default
   */
  public Answer<PendingPrepare> prepare(QueryRequest request, int deadlineMillis) {
    LiveSession session = supervisor.current();
    Refusal problem = problem(session, request.encodedBytes());
    if (session == null || problem != null) {
      return Answer.refused(problem == null ? supervisor.why() : problem);
    }
    return Answer.ok(
        new PendingPrepare(
            session, submit(session, Op.PREPARE, 0, 0, deadlineMillis, request::encode)));
  }

  /** Stops a preparation as well as it goes; whether there was something to stop. */
  public Answer<Boolean> cancel(PendingPrepare prepare) {
    return cancel(prepare.session(), Flags.CANCEL_BY_REQUEST, prepare.requestId());
  }

  /** Asks what could be restored at present, and leases nothing. */
  public QueryResult discover(QueryRequest request) {
    return query(request, Flags.QUERY_DISCOVER, 0);
  }

  /** Asks how a pending query stands. */
  public QueryResult poll(Ticket ticket) {
    LiveSession session = ticket.session();
    if (session != supervisor.current()) {
      return new QueryResult.Refused(stale("the ticket's session is over"));
    }
    Pending pending = submit(session, Op.POLL, 0, ticket.ticketId(), 0, null);
    if (!finish(session, pending)) {
      return new QueryResult.Refused(late(Op.POLL));
    }
    return pending.lost == null && pending.status == Status.LOADING
        ? new QueryResult.Loading(ticket)
        : Results.query(session, pending);
  }

  /**
   * Waits until a pending query is decided and fetches its answer.
   *
   * @return {@link QueryResult.Loading} if it was not decided in time
   */
  public QueryResult awaitAnswer(Ticket ticket, long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    if (!ticket.session().driver().awaitNotice(ticket.query(), deadline)) {
      return new QueryResult.Loading(ticket);
    }
    Pending notice = ticket.query();
    if (notice.lost != null
        || notice.status == Status.CANCELLED
        || Results.refusal(notice) != null) {
      return Results.query(ticket.session(), notice);
    }
    return poll(ticket);
  }

  /** Cancels a pending query; whether there was something to cancel. */
  public Answer<Boolean> cancel(Ticket ticket) {
    return cancel(ticket.session(), 0, ticket.ticketId());
  }

  /** Cancels a publish; it still ends by itself. Whether there was something to cancel. */
  public Answer<Boolean> cancel(PendingPublish publish) {
    return cancel(publish.session(), Flags.CANCEL_BY_REQUEST, publish.requestId());
  }

  /** Cancels a restore; it still ends by itself. Whether there was something to cancel. */
  public Answer<Boolean> cancel(PendingRestore restore) {
    return cancel(restore.session(), Flags.CANCEL_BY_REQUEST, restore.requestId());
  }

  /** Publishes blocks and waits until their pages may be reused. */
  public PublishResult publish(PublishRequest request) {
    return switch (publishAsync(request)) {
      case Answer.Refused<PendingPublish>(Refusal refusal) -> new PublishResult.Refused(refusal);
      case Answer.Ok<PendingPublish>(PendingPublish pending) ->
          pending
              .await(options.operationMillis())
              .orElseGet(() -> new PublishResult.Failed(late(Op.PUBLISH)));
    };
  }

  /** Publishes blocks; their pages must not change until it is done. */
  public Answer<PendingPublish> publishAsync(PublishRequest request) {
    LiveSession session = supervisor.current();
    Refusal problem = problem(session, request.encodedBytes());
    if (session == null || problem != null) {
      return Answer.refused(problem == null ? supervisor.why() : problem);
    }
    return Answer.ok(
        new PendingPublish(session, submit(session, Op.PUBLISH, 0, 0, 0, request::encode)));
  }

  /** Restores leased blocks and waits until every copy has ended. The lease stays. */
  public RestoreResult restore(Lease lease, RestoreRequest request) {
    return switch (restoreAsync(lease, request, false, false)) {
      case Answer.Refused<PendingRestore>(Refusal refusal) -> new RestoreResult.Refused(refusal);
      case Answer.Ok<PendingRestore>(PendingRestore pending) ->
          pending
              .await(options.operationMillis())
              .orElseGet(() -> new RestoreResult.Failed(late(Op.RESTORE)));
    };
  }

  /**
   * Restores leased blocks; the destination pages must not be used until it is done.
   *
   * @param progress count layers as they are in place
   * @param release release the lease when the restore ends
   */
  public Answer<PendingRestore> restoreAsync(
      Lease lease, RestoreRequest request, boolean progress, boolean release) {
    LiveSession session = supervisor.current();
    Refusal problem = problem(session, request.encodedBytes());
    if (session == null || problem != null) {
      return Answer.refused(problem == null ? supervisor.why() : problem);
    }
    if (lease.epoch() != session.registered().epoch()) {
      return Answer.refused(stale("the lease is of epoch " + lease.epoch()));
    }
    int flags = (progress ? Flags.RESTORE_PROGRESS : 0) | (release ? Flags.RESTORE_RELEASE : 0);
    return Answer.ok(
        new PendingRestore(
            session, submit(session, Op.RESTORE, flags, lease.leaseId(), 0, request::encode)));
  }

  /** Releases a lease; whether it was open. */
  public Answer<Boolean> release(Lease lease) {
    LiveSession session = supervisor.current();
    if (session != null && lease.epoch() != session.registered().epoch()) {
      return Answer.refused(stale("the lease is of epoch " + lease.epoch()));
    }
    return truth(number(Op.RELEASE, 0, lease.leaseId()));
  }

  /** How the daemon is. */
  public Answer<Health> health() {
    LiveSession session = supervisor.current();
    return session == null
        ? Answer.refused(supervisor.why())
        : ControlClient.health(session.connection(), options);
  }

  /** The daemon's live sessions. */
  public Answer<Sessions> sessions() {
    LiveSession session = supervisor.current();
    return session == null
        ? Answer.refused(supervisor.why())
        : ControlClient.sessions(session.connection(), options);
  }

  /** Ends every session of this instance, this one too, if this one is not superseded. */
  public Answer<Cleaned> cleanup() {
    LiveSession session = supervisor.current();
    if (session == null) {
      return Answer.refused(supervisor.why());
    }
    String instance = supervisor.instance();
    long sessionId = session.registered().sessionId();
    return ControlClient.cleanup(session.connection(), options, instance, sessionId);
  }

  /** What the Manager registered, empty while there is no connection. */
  public Optional<Registered> registered() {
    LiveSession session = supervisor.current();
    return session == null ? Optional.empty() : Optional.of(session.registered());
  }

  /** Waits for a connection; whether there is one. */
  public boolean awaitConnected(long timeoutMillis) {
    return supervisor.awaitConnected(timeoutMillis);
  }

  /** Why there is no connection; empty while there is one. */
  public Optional<Refusal> disconnected() {
    return supervisor.current() == null ? Optional.of(supervisor.why()) : Optional.empty();
  }

  /** Requests that were submitted and not answered for good. */
  public int outstanding() {
    LiveSession session = supervisor.current();
    return session == null ? 0 : session.driver().outstanding();
  }

  /**
   * Ends the session in order, and its save sessions: when it returns no copy touches the buffers
   * any more, or the Manager did not answer within {@link ClientOptions#drainMillis}.
   */
  @Override
  public void close() {
    List<OrbitClient> saves;
    synchronized (this) {
      saves = List.copyOf(saveSessions);
      saveSessions.clear();
    }
    saves.forEach(OrbitClient::close);
    supervisor.close();
  }

  private static Answer<OrbitClient> start(ClientOptions options, Supervisor supervisor) {
    Refusal refusal = supervisor.start();
    return refusal == null
        ? Answer.ok(new OrbitClient(options, supervisor))
        : Answer.refused(refusal);
  }

  private QueryResult query(QueryRequest request, int flags, int ticketMillis) {
    LiveSession session = supervisor.current();
    Refusal problem = problem(session, request.encodedBytes());
    if (session == null || problem != null) {
      return new QueryResult.Refused(problem == null ? supervisor.why() : problem);
    }
    Pending pending = submit(session, Op.QUERY, flags, 0, ticketMillis, request::encode);
    if (!finish(session, pending)) {
      return new QueryResult.Refused(late(Op.QUERY));
    }
    return pending.waits && pending.lost == null
        ? new QueryResult.Loading(new Ticket(session, pending, pending.handle))
        : Results.query(session, pending);
  }

  private Answer<Boolean> cancel(LiveSession session, int flags, long handle) {
    return session == supervisor.current()
        ? truth(number(Op.CANCEL, flags, handle))
        : Answer.refused(stale("its session is over"));
  }

  private Answer<Long> number(Op op, int flags, long handle) {
    LiveSession session = supervisor.current();
    if (session == null) {
      return Answer.refused(supervisor.why());
    }
    Pending pending = submit(session, op, flags, handle, 0, null);
    return finish(session, pending) ? Results.value(pending) : Answer.refused(late(op));
  }

  private static Answer<Boolean> truth(Answer<Long> answer) {
    return switch (answer) {
      case Answer.Ok<Long>(Long value) -> Answer.ok(value != 0);
      case Answer.Refused<Long>(Refusal refusal) -> Answer.refused(refusal);
    };
  }

  private Pending submit(
      LiveSession session,
      Op op,
      int flags,
      long handle,
      int timeoutMillis,
      @Nullable ToIntFunction<MemorySegment> payload) {
    return session.driver().submit(op, flags, handle, timeoutMillis, payload, deadline());
  }

  /** Waits for a request; false if it was given up. */
  private boolean finish(LiveSession session, Pending pending) {
    return session.driver().await(pending, deadline()) || !session.driver().abandon(pending);
  }

  private long deadline() {
    return System.nanoTime() + options.operationNanos();
  }

  private static @Nullable Refusal problem(@Nullable LiveSession session, int payloadBytes) {
    if (session == null || payloadBytes <= session.maxPayloadBytes()) {
      return null;
    }
    return Refusal.of(
        RefusalCode.TOO_MANY_KEYS,
        payloadBytes + " bytes of payload, at most " + session.maxPayloadBytes());
  }

  private static Refusal stale(String message) {
    return Refusal.of(RefusalCode.EPOCH, message);
  }

  private static Refusal late(Op op) {
    return Refusal.of(RefusalCode.DEADLINE, op + " was not answered in time");
  }
}
