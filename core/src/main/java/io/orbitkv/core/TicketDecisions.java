package io.orbitkv.core;

import io.orbitkv.core.Command.Poll;
import io.orbitkv.core.Command.Query;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.QueryEvidence.Reach;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TicketOpened;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.recovery.GroupRange;
import io.orbitkv.state.recovery.RecoveryDemand;
import java.util.Objects;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Queries that wait. A query waits when blocks on their way, from an engine, from SSD or from an
 * earlier run, would give a longer boundary than those in DRAM do. The bytes it hopes to lease are
 * charged from the start, so that its lease is never refused for want of budget.
 */
final class TicketDecisions {
  /** Reads that are begun for one ticket; what is on SSD by then is left there. */
  private static final int MAX_LOADS = 3;

  private static final Extent[] NO_EXTENTS = {};

  private final Host host;
  private final QueryDecisions queries;
  private final LeaseDecisions leases;
  private final TicketBook book;
  private final @Nullable TierDecisions tier;
  private final AdoptionDecisions adoptions;
  private final @Nullable FetchDecisions fetches;

  TicketDecisions(
      Host host,
      QueryDecisions queries,
      LeaseDecisions leases,
      TicketBook book,
      @Nullable TierDecisions tier,
      AdoptionDecisions adoptions,
      @Nullable FetchDecisions fetches) {
    this.host = host;
    this.queries = queries;
    this.leases = leases;
    this.book = book;
    this.tier = tier;
    this.adoptions = adoptions;
    this.fetches = fetches;
  }

  /** Every query comes here first. */
  void query(Query query) {
    LiveSession session = host.openSession(query);
    if (session == null) {
      return;
    }
    LiveTicket pending = pending(session, query);
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
    if (!waits(session, query, evidence)) {
      host.reply(query.replyTo(), answer(session, query, evidence, 0, false));
    }
  }

  private Reply answer(
      LiveSession session, Query query, QueryEvidence evidence, long ticketId, boolean expired) {
    return query.mode() == QueryMode.PREPARE
        ? queries.prepared(session, query, evidence, ticketId, expired)
        : queries.answer(session, query, evidence, ticketId, expired);
  }

  /** Opens a ticket if more can be had than what is in DRAM; whether the query is answered. */
  private boolean waits(LiveSession session, Query query, QueryEvidence evidence) {
    boolean asks = fetches != null && fetches.worthAsking(query, evidence, session.namespace());
    if (!worthWaiting(query, evidence) && !asks) {
      return false;
    }
    Wish wish = wish(evidence, queries.furthest(query));
    wish.needsPeers = asks;
    if (!mayLoad(wish)) {
      return query.mode() == QueryMode.PREPARE && refuseToPrepare(query, wish);
    }
    Refused problem = ticketProblem(session, evidence, wish);
    if (problem != null && asks) {
      // What others may have is hope only: without it the query may still be answered.
      wish.needsPeers = false;
      if (!worthWaiting(query, evidence)) {
        return false;
      }
      problem = ticketProblem(session, evidence, wish);
    }
    if (problem != null) {
      host.refuse(query, problem);
      return true;
    }
    return open(session, query, evidence, wish);
  }

  /** Whoever prepares has time to come again; a query is answered with what is in memory. */
  private boolean refuseToPrepare(Query query, Wish wish) {
    if (tier == null || tier.loads.isWithinBound(tier.loads.bytes(wish.onSsd))) {
      return false;
    }
    host.refuse(
        query, RefusalCode.QUEUE_FULL, "as many bytes as allowed are on their way from SSD");
    return true;
  }

  /** The session's ticket of the same name that wants the same kind of thing. */
  private static @Nullable LiveTicket pending(LiveSession session, Query query) {
    boolean waits = query.mode() == QueryMode.WAIT || query.mode() == QueryMode.PREPARE;
    if (waits && !query.request().isEmpty()) {
      for (LiveTicket ticket : session.tickets) {
        if (ticket.query.mode() == query.mode() && ticket.query.request().equals(query.request())) {
          return ticket;
        }
      }
    }
    return null;
  }

  private void findAgain(LiveTicket pending, Query query) {
    if (pending.asksTheSame(query)) {
      pending.askers.add(query.replyTo());
      host.reply(query.replyTo(), loading(pending));
    } else {
      host.refuse(
          query,
          RefusalCode.TICKET_PENDING,
          "ticket %d of this request name asks something else".formatted(pending.id));
    }
  }

  private boolean worthWaiting(Query query, QueryEvidence evidence) {
    Reach furthest = queries.furthest(query);
    if (furthest == Reach.IN_DRAM) {
      return false;
    }
    int possible = evidence.boundaries(furthest).last().orElse(evidence.startToken());
    return possible > evidence.boundaries(Reach.IN_DRAM).last().orElse(evidence.startToken());
  }

  // ---- what a ticket waits for
  // -------------------------------------------------------------------------------------

  /** The blocks under the longest boundary that a ticket may hope for, by where they are. */
  private static final class Wish {
    final RecoveryDemand demand;
    final IntArrayList inDram = new IntArrayList();
    final IntArrayList onSsd = new IntArrayList();
    final LongArrayList awaited = new LongArrayList();

    /** Of these, blocks of an earlier run that nobody has verified. */
    final LongArrayList unverified = new LongArrayList();

    boolean needsDisk;
    boolean needsPublish;

    /** Others are to be asked for the rest. */
    boolean needsPeers;

    Wish(RecoveryDemand demand) {
      this.demand = demand;
    }
  }

  private Wish wish(QueryEvidence evidence, Reach furthest) {
    int possible = evidence.boundaries(furthest).last().orElse(evidence.startToken());
    Wish wish = new Wish(evidence.demand(possible));
    IntHashSet onSsd = new IntHashSet();
    for (int g = 0; g < evidence.groupCount(); g++) {
      GroupRange range = wish.demand.ranges().get(g);
      int to = evidence.ordinal(g, range.end());
      for (int ordinal = evidence.ordinal(g, range.start()); ordinal < to; ordinal++) {
        int slot = evidence.slot(g, ordinal);
        switch (host.state.blockState(slot)) {
          case SEALED -> wish.inDram.addInt(slot);
          case DEMOTED -> {
            wish.needsDisk = true;
            if (onSsd.add(slot)) {
              wish.onSsd.addInt(slot);
            }
            wish.awaited.addLong(host.state.blockId(slot));
          }
          case LOADING -> {
            wish.needsDisk = true;
            wish.awaited.addLong(host.state.blockId(slot));
          }
          case UNVERIFIED -> {
            wish.unverified.addLong(host.state.blockId(slot));
            wish.awaited.addLong(host.state.blockId(slot));
          }
          case RESERVED -> {
            wish.needsPublish = true;
            wish.awaited.addLong(host.state.blockId(slot));
          }
          case EVICTED -> throw new IllegalStateException("an evicted block was found");
        }
      }
    }
    return wish;
  }

  private boolean mayLoad(Wish wish) {
    return tier == null || !wish.needsDisk || tier.loads.mayLoad(tier.loads.bytes(wish.onSsd));
  }

  private @Nullable Refused ticketProblem(LiveSession session, QueryEvidence evidence, Wish wish) {
    return session.tickets.size() >= host.config.maxTicketsPerSession()
        ? new Refused(RefusalCode.TOO_MANY_TICKETS, session.tickets.size() + " tickets are pending")
        : leases.budgetProblem(session.instance, charge(session, evidence, wish));
  }

  /** A publish may seal more than is seen now, so a query that waits for one is charged for all. */
  private long charge(LiveSession session, QueryEvidence evidence, Wish wish) {
    return queries.bytes(
        session,
        evidence,
        wish.needsPublish || wish.needsPeers ? evidence.demand(evidence.endToken()) : wish.demand);
  }

  private boolean open(LiveSession session, Query query, QueryEvidence evidence, Wish wish) {
    long bytes = charge(session, evidence, wish);
    long id = host.state.nextTicketId();
    LiveTicket ticket = new LiveTicket(id, session, query, bytes);
    hold(ticket, wish);
    Extent[] extents = reserve(ticket, wish);
    if (extents == null) {
      letGo(ticket);
      return false;
    }
    if (wish.needsPeers && (fetches == null || !fetches.ask(ticket, evidence))) {
      wish.needsPeers = false;
      if (wish.awaited.isEmpty()) {
        letGo(ticket);
        return false;
      }
    }
    leases.charge(session.instance, bytes);
    LongRanges.Builder awaited = new LongRanges.Builder();
    wish.awaited.forEachLong(
        blockId -> {
          if (book.await(ticket, blockId)) {
            awaited.add(blockId);
          }
        });
    host.emit(new TicketOpened(id, session.id, query.request(), awaited.build()));
    session.tickets.add(ticket);
    host.tickets.put(id, ticket);
    long waitMillis =
        query.waitMillis() <= 0
            ? host.config.ticketMillis()
            : Math.min(query.waitMillis(), host.config.maxTicketMillis());
    host.timers.arm(ticket, host.deadline(waitMillis));
    host.reply(query.replyTo(), loading(ticket));
    load(ticket, wish, extents);
    return true;
  }

  /** What is in DRAM stays there until the ticket has its lease, and so does what comes. */
  private void hold(LiveTicket ticket, Wish wish) {
    if (!host.canHold()) {
      return;
    }
    for (int i = 0; i < wish.inDram.size(); i++) {
      ticket.held.addLong(host.state.blockId(wish.inDram.getInt(i)));
    }
    ticket.held.addAll(wish.awaited);
    ticket.held.forEachLong(host::hold);
  }

  private void letGo(LiveTicket ticket) {
    ticket.held.forEachLong(host::letGo);
    ticket.held.clear();
  }

  private Extent @Nullable [] reserve(LiveTicket ticket, Wish wish) {
    return tier == null || wish.onSsd.isEmpty()
        ? NO_EXTENTS
        : tier.loads.reserve(wish.onSsd, ticket.session.id, ticket.query.request());
  }

  private void load(LiveTicket ticket, Wish wish, Extent[] extents) {
    if (tier != null && !wish.onSsd.isEmpty()) {
      ticket.reads.add(
          tier.loads.begin(
              wish.onSsd, extents, ticket.id, ticket.session.id, ticket.query.request()));
    }
    adoptions.wanted(wish.unverified);
  }

  /** Waits on after a look that found more under way; false if there is nothing to wait for. */
  private boolean resume(LiveTicket ticket, QueryEvidence evidence) {
    if (fetches != null && ticket.hope != null) {
      fetches.begin(ticket, evidence);
      // Blocks may have left DRAM to make room, whether a read was begun or not.
      queries.look(ticket.session.namespace(), ticket.query);
    }
    if (!worthWaiting(ticket.query, evidence)) {
      return false;
    }
    Wish wish = wish(evidence, queries.furthest(ticket.query));
    if (wish.onSsd.size() > 0 && (ticket.reads.size() >= MAX_LOADS || !mayLoad(wish))) {
      return false;
    }
    letGo(ticket);
    hold(ticket, wish);
    Extent[] extents = reserve(ticket, wish);
    if (extents == null) {
      return false;
    }
    wish.awaited.forEachLong(blockId -> book.await(ticket, blockId));
    load(ticket, wish, extents);
    return true;
  }

  private Reply.Loading loading(LiveTicket ticket) {
    long leftMicros = ticket.deadlineMicros - host.clock.monotonicMicros();
    return new Reply.Loading(ticket.id, Math.max(0, leftMicros / 1_000));
  }

  /** Looks again after tickets whose blocks have all been sealed, have come back or are gone. */
  void answerReady() {
    for (LiveTicket ticket; (ticket = book.pollReady()) != null; ) {
      QueryEvidence evidence = queries.look(ticket.session.namespace(), ticket.query);
      if (!resume(ticket, evidence)) {
        finish(ticket, evidence, false);
      }
    }
  }

  /** Others have said who may have what a ticket lacks. */
  void found(RemoteLookup lookup) {
    LiveTicket ticket = Objects.requireNonNull(fetches).answered(lookup);
    if (ticket == null) {
      return;
    }
    if (ticket.awaited.isEmpty()) {
      book.answered(ticket);
    } else {
      resume(ticket, queries.look(ticket.session.namespace(), ticket.query));
    }
  }

  /** The ticket's time is over: the best answer at hand is given. */
  void expire(LiveTicket ticket) {
    finish(ticket, queries.look(ticket.session.namespace(), ticket.query), true);
  }

  private void finish(LiveTicket ticket, QueryEvidence evidence, boolean expired) {
    giveBackCharge(ticket);
    Reply answer = answer(ticket.session, ticket.query, evidence, ticket.id, expired);
    long leaseId = answer instanceof Reply.Ready ready ? ready.leaseId() : 0;
    boolean ready = leaseId != 0 || (answer instanceof Reply.Prepared && !expired);
    TicketEnd missed = expired ? TicketEnd.EXPIRED : TicketEnd.MISS;
    int askers = ticket.askers.size();
    close(ticket, ready ? TicketEnd.READY : missed, leaseId, answer);
    if (!(answer instanceof Reply.Prepared)) {
      ticket.session.remember(ticket.id, answer, askers, host.config.maxTicketsPerSession());
    }
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
    Reply ended = session.takeEnd(poll.ticketId());
    if (ended == null) {
      host.refuse(
          poll, RefusalCode.TICKET_GONE, "ticket %d is not pending".formatted(poll.ticketId()));
    } else {
      host.reply(poll.replyTo(), ended);
    }
  }

  /** Cancels what one asker waits for; whether there was such a ticket. */
  boolean cancelAnsweredTo(LiveSession session, ReplySink sink) {
    for (LiveTicket ticket : session.tickets) {
      if (ticket.askers.contains(sink)) {
        if (ticket.askers.size() == 1) {
          cancel(ticket);
        } else {
          ticket.askers.remove(sink);
          host.reply(sink, new Reply.Cancelled(false));
        }
        return true;
      }
    }
    return false;
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
    if (fetches != null) {
      fetches.forget(ticket);
      if (unwanted(ticket, outcome)) {
        fetches.stop(ticket);
      }
    }
    host.tickets.remove(ticket.id);
    ticket.session.tickets.remove(ticket);
    letGo(ticket);
    giveBackCharge(ticket);
    if (unwanted(ticket, outcome) && tier != null) {
      ticket.reads.forEach(tier.loads::stop);
    }
    ticket.askers.forEach(asker -> host.reply(asker, answer));
  }

  /** A query that ran out of time may come again, and then finds what was read meanwhile. */
  private static boolean unwanted(LiveTicket ticket, TicketEnd outcome) {
    return switch (outcome) {
      case CANCELLED, REPLACED, SESSION_CLOSED -> true;
      case EXPIRED -> ticket.query.mode() == QueryMode.PREPARE;
      case READY, MISS, RESTART -> false;
    };
  }

  private void giveBackCharge(LiveTicket ticket) {
    leases.giveBack(ticket.session.instance, ticket.chargedBytes);
    ticket.chargedBytes = 0;
  }
}
