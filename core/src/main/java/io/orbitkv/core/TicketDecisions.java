package io.orbitkv.core;

import io.orbitkv.core.Command.Poll;
import io.orbitkv.core.Command.Query;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TicketOpened;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.recovery.GroupRange;
import io.orbitkv.state.recovery.RecoveryDemand;
import org.jspecify.annotations.Nullable;

/**
 * Queries that wait. A query waits when blocks on their way would give a longer boundary than the
 * sealed ones do. The bytes it hopes to lease are charged from the start, so that its lease is
 * never refused for want of budget.
 */
final class TicketDecisions {
  private final Host host;
  private final QueryDecisions queries;
  private final LeaseDecisions leases;
  private final TicketBook book;

  TicketDecisions(Host host, QueryDecisions queries, LeaseDecisions leases, TicketBook book) {
    this.host = host;
    this.queries = queries;
    this.leases = leases;
    this.book = book;
  }

  /** Every query comes here first. */
  void query(Query query) {
    LiveSession session = host.openSession(query);
    if (session == null) {
      return;
    }
    LiveTicket pending = query.mode() == QueryMode.WAIT ? pending(session, query.request()) : null;
    if (pending != null && !query.replace()) {
      findAgain(pending, query);
      return;
    }
    Refused problem =
        host.draining
            ? new Refused(RefusalCode.DRAINING, "the daemon is stopping")
            : queries.problem(session.namespace(), query);
    if (problem != null) {
      host.refuse(query, problem);
      return;
    }
    QueryEvidence evidence = queries.look(session.namespace(), query);
    if (query.mode() == QueryMode.DISCOVER) {
      queries.discover(query, evidence);
      return;
    }
    if (!queries.hasRoom(query)) {
      host.refuse(query, RefusalCode.JOURNAL_FULL, "the journal has no room for a query");
      return;
    }
    if (pending != null) {
      close(pending, TicketEnd.REPLACED, 0, new Reply.Cancelled(true));
    }
    if (query.mode() == QueryMode.WAIT && worthWaiting(evidence)) {
      open(session, query, evidence);
    } else {
      host.reply(query.replyTo(), queries.answer(session, query, evidence, 0, false));
    }
  }

  private static @Nullable LiveTicket pending(LiveSession session, String request) {
    if (!request.isEmpty()) {
      for (LiveTicket ticket : session.tickets) {
        if (ticket.query.request().equals(request)) {
          return ticket;
        }
      }
    }
    return null;
  }

  private void findAgain(LiveTicket pending, Query query) {
    if (pending.asksTheSame(query)) {
      host.reply(query.replyTo(), loading(pending));
    } else {
      host.refuse(
          query,
          RefusalCode.TICKET_PENDING,
          "ticket %d of this request name asks something else".formatted(pending.id));
    }
  }

  private static boolean worthWaiting(QueryEvidence evidence) {
    int possible = evidence.boundaries(true).last().orElse(evidence.startToken());
    return possible > evidence.boundaries(false).last().orElse(evidence.startToken());
  }

  private void open(LiveSession session, Query query, QueryEvidence evidence) {
    long bytes = queries.bytes(session, evidence, evidence.demand(evidence.endToken()));
    Refused problem =
        session.tickets.size() >= host.config.maxTicketsPerSession()
            ? new Refused(
                RefusalCode.TOO_MANY_TICKETS, session.tickets.size() + " tickets are pending")
            : leases.budgetProblem(session.instance, bytes);
    if (problem != null) {
      host.refuse(query, problem);
      return;
    }
    long id = host.state.nextTicketId();
    LiveTicket ticket = new LiveTicket(id, session, query, bytes);
    leases.charge(session.instance, bytes);
    host.emit(new TicketOpened(id, session.id, query.request(), await(ticket, evidence)));
    session.tickets.add(ticket);
    host.tickets.put(id, ticket);
    long waitMillis =
        query.waitMillis() <= 0
            ? host.config.ticketMillis()
            : Math.min(query.waitMillis(), host.config.maxTicketMillis());
    host.timers.arm(ticket, host.deadline(waitMillis));
    host.reply(query.replyTo(), loading(ticket));
  }

  private Reply.Loading loading(LiveTicket ticket) {
    long leftMicros = ticket.deadlineMicros - host.clock.monotonicMicros();
    return new Reply.Loading(ticket.id, Math.max(0, leftMicros / 1_000));
  }

  /** Waits for every reserved page of the longest boundary that the pages on their way allow. */
  private LongRanges await(LiveTicket ticket, QueryEvidence evidence) {
    int possible = evidence.boundaries(true).last().orElse(evidence.startToken());
    RecoveryDemand demand = evidence.demand(possible);
    LongRanges.Builder ids = new LongRanges.Builder();
    for (int g = 0; g < evidence.groupCount(); g++) {
      GroupRange range = demand.ranges().get(g);
      int to = evidence.ordinal(g, range.end());
      for (int ordinal = evidence.ordinal(g, range.start()); ordinal < to; ordinal++) {
        int slot = evidence.slot(g, ordinal);
        if (!host.state.sealed(slot) && book.await(ticket, host.state.blockId(slot))) {
          ids.add(host.state.blockId(slot));
        }
      }
    }
    return ids.build();
  }

  /** Looks again after tickets whose blocks have all been sealed or are gone. */
  void answerReady() {
    for (LiveTicket ticket; (ticket = book.pollReady()) != null; ) {
      QueryEvidence evidence = queries.look(ticket.session.namespace(), ticket.query);
      if (worthWaiting(evidence)) {
        await(ticket, evidence);
      } else {
        finish(ticket, evidence, false);
      }
    }
  }

  /** The ticket's time is over: the best answer at hand is given. */
  void expire(LiveTicket ticket) {
    finish(ticket, queries.look(ticket.session.namespace(), ticket.query), true);
  }

  private void finish(LiveTicket ticket, QueryEvidence evidence, boolean expired) {
    giveBackCharge(ticket);
    Reply answer = queries.answer(ticket.session, ticket.query, evidence, ticket.id, expired);
    long leaseId = answer instanceof Reply.Ready ready ? ready.leaseId() : 0;
    TicketEnd missed = expired ? TicketEnd.EXPIRED : TicketEnd.MISS;
    close(ticket, leaseId != 0 ? TicketEnd.READY : missed, leaseId, answer);
    ticket.session.remember(ticket.id, answer, host.config.maxTicketsPerSession());
  }

  void poll(Poll poll) {
    LiveSession session = host.openSession(poll);
    if (session == null) {
      return;
    }
    LiveTicket ticket = host.tickets.get(poll.ticketId());
    if (ticket != null && ticket.session == session) {
      host.reply(poll.replyTo(), loading(ticket));
      return;
    }
    Reply ended = session.endedTickets.remove(poll.ticketId());
    if (ended == null) {
      host.refuse(
          poll, RefusalCode.TICKET_GONE, "ticket %d is not pending".formatted(poll.ticketId()));
    } else {
      host.reply(poll.replyTo(), ended);
    }
  }

  void cancel(LiveTicket ticket) {
    close(ticket, TicketEnd.CANCELLED, 0, new Reply.Cancelled(false));
  }

  void endOfSession(LiveTicket ticket) {
    close(ticket, TicketEnd.SESSION_CLOSED, 0, new Reply.Cancelled(false));
  }

  private void close(LiveTicket ticket, TicketEnd outcome, long leaseId, Reply answer) {
    host.emit(new TicketClosed(ticket.id, outcome, leaseId));
    host.timers.cancel(ticket);
    book.forget(ticket);
    host.tickets.remove(ticket.id);
    ticket.session.tickets.remove(ticket);
    giveBackCharge(ticket);
    host.reply(ticket.query.replyTo(), answer);
  }

  private void giveBackCharge(LiveTicket ticket) {
    leases.giveBack(ticket.session.instance, ticket.chargedBytes);
    ticket.chargedBytes = 0;
  }
}
