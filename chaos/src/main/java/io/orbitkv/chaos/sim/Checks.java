package io.orbitkv.chaos.sim;

import static io.orbitkv.chaos.sim.Violation.require;

import io.orbitkv.core.Command.EvictSelector;
import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.RefusalCode;
import io.orbitkv.core.Reply;
import io.orbitkv.core.Reply.PublishOutcome;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.recovery.GroupRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Judges each answer by what the asker, and only what an asker, can know. */
final class Checks {
  private final Simulation simulation;

  Checks(Simulation simulation) {
    this.simulation = simulation;
  }

  private FactModel facts() {
    return simulation.log.model();
  }

  // ---- sessions
  // ----------------------------------------------------------------------------------------------------

  void registered(
      Reply reply,
      Call call,
      SimEngine engine,
      SessionRole role,
      @Nullable SimSession base,
      @Nullable SimPages pages) {
    if (reply instanceof Reply.Refused refused) {
      require(
          pages == null || pages.closed(),
          Rule.DRAINS,
          () -> "a registration is refused and its pages stay mapped");
      boolean passing =
          switch (refused.category()) {
            case RESOURCE, UNAVAILABLE -> true;
            case USER ->
                refused.code() == RefusalCode.ATTACH_MISMATCH && base != null && base.ending;
            case STALE, INTERNAL -> false;
          };
      require(
          passing,
          Rule.FAILED_WITHOUT_FAULT,
          () -> engine + " cannot register: " + Transcript.text(reply));
      return;
    }
    Reply.Registered opened = (Reply.Registered) reply;
    require(
        facts().sessionOpened(opened.sessionId()),
        Rule.TOLD_BEFORE_FACT,
        () -> "session " + opened.sessionId() + " is in no fact");
    for (SimSession other : List.copyOf(engine.deployment.sessions)) {
      if (other.id == opened.supersededSessionId()) {
        other.over();
      }
    }
    SimPages used = base == null ? pages : base.pages;
    SimSession session =
        new SimSession(opened.sessionId(), opened.epoch(), engine, role, used, base);
    // What came behind the registration may have ended the session before this answer was sent.
    session.ending =
        simulation.isStopping()
            || (base != null && base.ending)
            || engine.deployment.cleaned > call.handled
            || engine.registered.getOrDefault(role, 0L) > call.handled;
    engine.deployment.sessions.add(session);
    if (!session.ending) {
      engine.current.put(role, session);
    }
  }

  void closed(Reply reply, SimSession session) {
    if (reply instanceof Reply.SessionClosed) {
      over(session);
    } else {
      require(
          simulation.isStopping() && reply instanceof Reply.Refused,
          Rule.ANSWERED_ONCE,
          () -> "a close -> " + reply);
    }
  }

  private void over(SimSession session) {
    session.over();
    require(
        session.epoch != facts().epoch() || !facts().sessionOpen(session.id),
        Rule.TOLD_BEFORE_FACT,
        () -> session + " is closed in no fact");
    require(
        session.base != null || session.pages == null || session.pages.closed(),
        Rule.DRAINS,
        () -> session + " is closed and its pages are mapped");
  }

  void cleaned(Reply reply, List<SimSession> sessions) {
    if (reply instanceof Reply.InstanceCleaned) {
      sessions.forEach(this::over);
    }
  }

  // ---- publish
  // -----------------------------------------------------------------------------------------------------

  void published(Reply reply, Call call, SimSession session, List<Contents.Content> contents) {
    contents.forEach(content -> content.answered = true);
    switch (reply) {
      case Reply.Published published -> {
        require(
            published.outcomes().length == contents.size(),
            Rule.ANSWERED_ONCE,
            () ->
                "%d outcomes of %d blocks".formatted(published.outcomes().length, contents.size()));
        for (int i = 0; i < contents.size(); i++) {
          if (published.outcomes()[i] == PublishOutcome.STORED.code()) {
            stored(contents.get(i));
          }
        }
      }
      case Reply.Failed failed ->
          require(
              failed.code() == RefusalCode.COPY_FAILED
                  && session.pages != null
                  && session.pages.failing,
              Rule.FAILED_WITHOUT_FAULT,
              () -> call.what() + " -> " + Transcript.text(failed));
      case Reply.Cancelled _ -> cancelledForReason(call, session);
      case Reply.Refused _ -> {}
      default -> throw wrongAnswer(call, reply);
    }
  }

  private void stored(Contents.Content content) {
    content.stored = simulation.sequence();
    require(
        simulation.contents.storedEver(content.name) <= facts().published(content.name),
        Rule.TOLD_BEFORE_FACT,
        () -> content + " is published in no fact");
  }

  private void cancelledForReason(Call call, SimSession session) {
    require(
        call.cancelled || session.ending || simulation.isStopping(),
        Rule.FAILED_WITHOUT_FAULT,
        () -> call.what() + " is cancelled by nobody");
  }

  private static Violation wrongAnswer(Call call, Reply reply) {
    return new Violation(Rule.ANSWERED_ONCE, call.what() + " -> " + reply);
  }

  // ---- query
  // -------------------------------------------------------------------------------------------------------

  /** What a query asked, and what it must find. */
  static final class Asked {
    final SimSession session;
    final List<GroupKeys> groups;
    final int start;
    final int end;
    final QueryMode mode;

    /** The longest boundary there was when the loop took the query, -1 if none. */
    int expected = -1;

    /** The longest that it may wait for: with what was coming then, without a disk that hangs. */
    int possible = -1;

    Asked(SimSession session, List<GroupKeys> groups, int start, int end, QueryMode mode) {
      this.session = session;
      this.groups = groups;
      this.start = start;
      this.end = end;
      this.mode = mode;
    }

    ModelPlan model() {
      return session.engine.model();
    }

    /** The key of the page of a group that begins at a token. */
    Name name(int group, int token) {
      GroupKeys keys = groups.get(group);
      int index = (token - start) / model().groups().get(group).page();
      return Name.of(model().namespace(), keys.groupId(), keys.keys(), index);
    }
  }

  void queried(Reply reply, Call call, Asked asked) {
    require(
        call.answers > 1 || reply instanceof Reply.Cancelled || simulation.inCycleOf(call),
        Rule.PROMPT,
        () -> call.what() + " was answered later than it was taken");
    switch (reply) {
      case Reply.Ready ready -> {
        boundary(call, asked, ready.ticketId() == 0, ready.boundaryToken());
        granted(asked, ready);
      }
      case Reply.Missed missed -> boundary(call, asked, missed.ticketId() == 0, -1);
      case Reply.Prepared prepared ->
          require(
              prepared.ticketId() != 0
                  || prepared.boundaryToken() == Math.max(asked.start, asked.expected),
              Rule.BOUNDARY,
              () ->
                  "%s is prepared up to %d, the facts say %d"
                      .formatted(call.what(), prepared.boundaryToken(), asked.expected));
      case Reply.Discovered found ->
          boundary(call, asked, true, found.boundaries().last().orElse(-1));
      case Reply.Loading loading -> {
        require(
            facts().ticketOpened(loading.ticketId()),
            Rule.TOLD_BEFORE_FACT,
            () -> "ticket " + loading.ticketId() + " is in no fact");
        if (simulation.awaits(loading.ticketId(), call)) {
          require(
              asked.possible > asked.expected,
              Rule.PROMPT,
              () ->
                  "%s waits for more than boundary %d, and %d is all there can be"
                      .formatted(call.what(), asked.expected, asked.possible));
        }
        SimEngine engine = asked.session.engine;
        engine.tickets.add(new SimEngine.Ticket(loading.ticketId(), asked.session, call));
        call.cancelled |= engine.cancelledTickets.contains(loading.ticketId());
      }
      case Reply.Cancelled cancelled ->
          require(
              cancelled.replaced()
                  || call.cancelled
                  || asked.session.ending
                  || simulation.isStopping(),
              Rule.FAILED_WITHOUT_FAULT,
              () -> call.what() + " is cancelled by nobody");
      case Reply.Refused _ -> {}
      default -> throw wrongAnswer(call, reply);
    }
  }

  /** A ticket is cancelled by its number: for all that found it. */
  void ticketCancelled(long ticketId, SimEngine engine) {
    engine.cancelledTickets.add(ticketId);
    for (SimEngine.Ticket ticket : engine.tickets) {
      ticket.call().cancelled |= ticket.id() == ticketId;
    }
  }

  private void boundary(Call call, Asked asked, boolean atOnce, int boundary) {
    if (atOnce) {
      require(
          boundary == asked.expected,
          Rule.BOUNDARY,
          () ->
              "%s finds boundary %d, the facts say %d"
                  .formatted(call.what(), boundary, asked.expected));
    }
  }

  private void granted(Asked asked, Reply.Ready ready) {
    boolean shared =
        asked.session.engine.deployment.leases.stream()
            .anyMatch(lease -> lease.id == ready.leaseId() && lease.session == asked.session);
    if (shared) {
      return; // It asked the same as another whose ticket it found.
    }
    FactModel.Lease fact = facts().lease(ready.leaseId());
    if (fact == null) {
      throw new Violation(Rule.TOLD_BEFORE_FACT, "lease " + ready.leaseId() + " is in no fact");
    }
    require(
        fact.open || asked.session.ending || simulation.isStopping(),
        Rule.LEASE_HELD,
        () -> "lease " + ready.leaseId() + " was over before anybody was told of it");
    ModelPlan model = asked.model();
    List<LeaseView.Held> held = new ArrayList<>();
    for (int g = 0; g < model.groups().size(); g++) {
      GroupRange range = ready.ranges().get(g);
      int page = model.groups().get(g).page();
      require(
          range.end() == ready.boundaryToken()
              && range.start() == model.groups().get(g).needFrom(asked.start, range.end()),
          Rule.LEASE_KEYS,
          () -> "boundary %d needs other pages than %s".formatted(ready.boundaryToken(), range));
      List<Name> names = new ArrayList<>();
      for (int token = range.start(); token < range.end(); token += page) {
        names.add(asked.name(g, token));
      }
      List<Name> leased =
          fact.blocks.getOrDefault(range.groupId(), List.of()).stream()
              .map(block -> block.name)
              .toList();
      require(
          leased.equals(names),
          Rule.LEASE_KEYS,
          () -> "asked for %s, leased %s".formatted(names, leased));
      names.forEach(name -> everySliceStored(model, name));
      held.add(new LeaseView.Held(g, range.start(), names));
    }
    LeaseView lease =
        new LeaseView(
            ready.leaseId(),
            asked.session,
            held,
            simulation.sequence(),
            simulation.clock.monotonicMicros()
                + simulation.world.config().leaseTtlMillis() * 1_000);
    lease.ending = !fact.open;
    for (LeaseView.Held group : held) {
      for (Name name : group.names()) {
        lease.notBefore.put(name, simulation.contents.droppedBefore(name));
      }
    }
    asked.session.engine.deployment.leases.add(lease);
  }

  private void everySliceStored(ModelPlan model, Name name) {
    int slices = model.slices(model.indexOf(name.groupId()));
    for (int slice = 0; slice < slices; slice++) {
      if (!simulation.contents.stored(name, slice)) {
        throw new Violation(
            Rule.SEALED,
            "%s is leased, and slice %d of %d is not stored".formatted(name, slice, slices));
      }
    }
  }

  void polled(Reply reply, SimEngine.Ticket ticket) {
    if (reply instanceof Reply.Ready ready) {
      require(
          ticket.session().engine.deployment.leases.stream()
              .anyMatch(lease -> lease.id == ready.leaseId()),
          Rule.ANSWERED_ONCE,
          () ->
              "ticket %d became lease %d, of which the query was not told"
                  .formatted(ticket.id(), ready.leaseId()));
    }
  }

  // ---- restore and release
  // -----------------------------------------------------------------------------------------

  /** Pages that a restore fills: of one group, with these names. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Target(int group, List<Name> names, int[] pages) {
    @Override
    public String toString() {
      return names + " to " + Arrays.toString(pages);
    }
  }

  /** Whether a lease must be open. */
  boolean leaseGood(LeaseView lease) {
    return !lease.ending
        && !lease.ended
        && simulation.sessionGood(lease.session)
        && simulation.clock.monotonicMicros() < lease.deadlineMicros;
  }

  /** Whether a lease is over in the journal. */
  boolean leaseDead(LeaseView lease) {
    FactModel.Lease fact = facts().lease(lease.id);
    return lease.ended || lease.session.epoch != facts().epoch() || fact == null || !fact.open;
  }

  void restored(Reply reply, Call call, SimSession session, LeaseView lease, List<Target> targets) {
    switch (reply) {
      case Reply.Restored restored -> {
        require(
            facts().restoreFinished(restored.restoreId()),
            Rule.TOLD_BEFORE_FACT,
            () -> "restore " + restored.restoreId() + " ends in no fact");
        SimPages pages = session.pages;
        for (Target target : targets) {
          for (int i = 0; i < target.pages().length && pages != null; i++) {
            page(pages.read(target.group(), target.pages()[i]), target, i, session, lease);
          }
        }
      }
      case Reply.Failed failed ->
          require(
              switch (failed.code()) {
                case VERIFY_FAILED -> simulation.damage > 0;
                case COPY_FAILED -> session.pages != null && session.pages.failing;
                default -> false;
              },
              Rule.FAILED_WITHOUT_FAULT,
              () -> call.what() + " -> " + Transcript.text(failed));
      case Reply.Cancelled _ -> cancelledForReason(call, session);
      case Reply.Refused _ -> {}
      default -> throw wrongAnswer(call, reply);
    }
  }

  private void page(long id, Target target, int i, SimSession session, LeaseView lease) {
    Name name = target.names().get(i);
    int slice = session.engine.model().slice(target.group(), session.engine.shard);
    Contents.Content content = simulation.contents.get(id);
    if (content == null || !content.name.equals(name) || content.slice != slice) {
      throw new Violation(
          Rule.PAGE_CONTENT,
          "%s slice %d under %s is %s"
              .formatted(name, slice, lease, content == null ? "no content at all" : content));
    }
    require(
        content.stored > 0
            && content.stored <= lease.granted
            && content.epoch <= lease.session.epoch
            && content.handled >= lease.notBefore.getOrDefault(name, 0L),
        Rule.STALE_CONTENT,
        () -> content + " is read under " + lease + ", which cannot hold it");
    for (Contents.Content newer : simulation.contents.of(name)) {
      require(
          newer.slice != slice
              || newer.stored == 0
              || newer.unknown
              || newer.stored > lease.granted
              || newer.handled <= content.stored,
          Rule.STALE_CONTENT,
          () -> content + " is read under " + lease + " though " + newer + " had replaced it");
    }
    Long before = lease.seen.put(name + "#" + slice, id);
    require(
        before == null || before == id,
        Rule.PAGE_CONTENT,
        () -> "%s under %s was content %s and is now %d".formatted(name, lease, before, id));
  }

  void released(Reply reply, LeaseView lease, boolean good) {
    if (reply instanceof Reply.Released released) {
      require(
          released.wasOpen() || !good,
          Rule.LEASE_HELD,
          () -> lease + " had ended before its release");
      lease.ended = true;
      require(leaseDead(lease), Rule.TOLD_BEFORE_FACT, () -> lease + " is released in no fact");
      FactModel.Lease fact = facts().lease(lease.id);
      require(
          fact == null || !fact.open || lease.session.epoch != facts().epoch(),
          Rule.TOLD_BEFORE_FACT,
          () -> lease + " is released in no fact");
    }
  }

  void cancelTaken(Reply reply) {
    require(
        reply instanceof Reply.CancelTaken || reply instanceof Reply.Refused,
        Rule.ANSWERED_ONCE,
        () -> "a cancel -> " + reply);
  }

  // ---- operators
  // ---------------------------------------------------------------------------------------------------

  void evicted(Reply reply, Call call, EvictSelector selector) {
    if (!(reply instanceof Reply.Evicted)) {
      require(reply instanceof Reply.Refused, Rule.ANSWERED_ONCE, () -> "an eviction -> " + reply);
      return;
    }
    switch (selector) {
      case EvictSelector.All _ -> simulation.contents.dropAll(null, call.handled);
      case EvictSelector.OfNamespace(String namespace) ->
          simulation.contents.dropAll(namespace, call.handled);
      case EvictSelector.OfKeys(String namespace, int groupId, var keys) -> {
        for (int i = 0; i < keys.size(); i++) {
          simulation.contents.drop(Name.of(namespace, groupId, keys, i), call.handled);
        }
      }
    }
  }

  void status(Inspection.StatusAnswer status, FactModel.Counts counts) {
    FactModel.Counts told =
        new FactModel.Counts(
            (int) status.sessions(),
            (int) status.openLeases(),
            (int) status.openTickets(),
            (int) status.openPublishes(),
            (int) status.openRestores(),
            (int) status.sealedBlocks());
    require(
        told.equals(counts),
        Rule.FOLD,
        () -> "the status says %s, the facts say %s".formatted(told, counts));
  }

  void shutDown(Reply reply) {
    require(reply instanceof Reply.ShutDown, Rule.ANSWERED_ONCE, () -> "a shutdown -> " + reply);
    require(
        facts().counts().nothingOpen(),
        Rule.DRAINS,
        () -> "an orderly end with something open: " + facts().counts());
  }
}
