package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.EvictSelector;
import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What each kind of step does. What comes of it is for {@link Checks} to judge. */
final class Actions {
  private static final int OPERATOR = -1;
  private static final int MAX_PAGES = 6;

  private final Simulation simulation;
  private final Checks checks;
  private int request;

  Actions(Simulation simulation) {
    this.simulation = simulation;
    this.checks = new Checks(simulation);
  }

  void act(Step.Kind kind, SimEngine engine, Draws draws) {
    simulation.say(() -> kind + " " + engine);
    switch (kind) {
      case REGISTER -> {
        // Who has a session seldom opens it again.
        if (!engine.current.containsKey(SessionRole.LOAD) || draws.oneIn(4)) {
          register(engine, draws);
        }
      }
      case PUBLISH -> {
        if (!engine.current.containsKey(SessionRole.LOAD)) {
          registerAll(engine.deployment, draws);
        } else if (draws.oneIn(3)) {
          publish(engine, engine.withPages(draws), draws);
        } else {
          publishPrompt(engine.deployment, draws);
        }
      }
      case QUERY -> {
        if (engine.current.isEmpty()) {
          register(engine, draws);
        } else {
          query(engine, engine.any(draws), draws);
        }
      }
      case RESTORE -> {
        SimSession session = engine.withPages(draws);
        LeaseView lease = someLease(engine.deployment, draws, false);
        if (session != null && lease != null) {
          restore(session, lease, draws);
        } else {
          query(engine, session, draws);
        }
      }
      case RELEASE -> {
        SimSession session = engine.any(draws);
        LeaseView lease = someLease(engine.deployment, draws, false);
        if (session != null && lease != null) {
          release(session, lease);
        }
      }
      case CANCEL -> cancel(engine, draws);
      case POLL -> poll(engine, draws);
      case CLOSE -> {
        SimSession session = engine.any(draws);
        SessionEnd[] ends = {
          SessionEnd.DISCONNECTED, SessionEnd.UNREGISTERED, SessionEnd.PROTOCOL_VIOLATION
        };
        SessionEnd end = ends[draws.below(ends.length)];
        if (session != null) {
          if (end == SessionEnd.DISCONNECTED && draws.oneIn(2)) {
            simulation.tally.add(Tally.Count.VANISHED);
            simulation.lose(engine.index);
          }
          close(session, end);
        }
      }
      case CLEANUP -> {
        if (draws.oneIn(2)) {
          cleanup(engine, draws);
        }
      }
      case EVICT -> {
        // Too many of them leave nothing to be read back.
        if (simulation.world.tier() == null || draws.oneIn(4)) {
          evict(selector(engine, draws));
        }
      }
      case COPY -> {
        for (int i = draws.between(1, 3); i > 0; i--) {
          simulation.runCopy(
              draws.below(1_000), draws.oneIn(3) ? draws.between(1, 5) : 0, draws.between(1, 5));
        }
      }
      case DISK -> simulation.disk(draws);
      case TIME -> {
        simulation.clock.advanceMicros(draws.below(draws.oneIn(4) ? 900_000 : 60_000));
        if (draws.oneIn(5)) {
          simulation.clock.setWall(draws.between(-2_000_000, 2_000_000));
        }
      }
      case ROOM -> simulation.fillJournal();
      case CRASH -> die(draws);
      case SHUTDOWN -> {
        if (draws.oneIn(3)) {
          shutDown();
        }
      }
      case DAMAGE -> {
        if (simulation.world.damage()) {
          simulation.flipBit(draws);
        }
        simulation.flipOnDisk(draws);
      }
      case ILLEGAL -> new IllegalRequests(simulation).send(engine, draws);
      case STALE -> stale(engine, draws);
      case STATUS -> status(_ -> {});
    }
  }

  private String name(String kind) {
    return kind + ++request;
  }

  private Call call(Supplier<String> what, @Nullable SimSession session, Consumer<Reply> check) {
    return new Call(simulation, what, session, check);
  }

  // ---- sessions
  // ----------------------------------------------------------------------------------------------------

  private void registerAll(Deployment deployment, Draws draws) {
    for (SimEngine engine : simulation.world.engines()) {
      if (engine.deployment == deployment && !engine.current.containsKey(SessionRole.LOAD)) {
        register(engine, draws);
      }
    }
  }

  private void register(SimEngine engine, Draws draws) {
    SimSession load = engine.current.get(SessionRole.LOAD);
    int what = draws.below(10);
    SessionRole role =
        what == 9
            ? SessionRole.QUERY
            : what >= 7 && load != null ? SessionRole.SAVE : SessionRole.LOAD;
    SimSession base = role == SessionRole.SAVE ? load : null;
    SimPages pages = role == SessionRole.LOAD ? simulation.map(engine.model(), draws) : null;
    if (pages != null && simulation.world.copyFaults() && draws.oneIn(8)) {
      pages.failing = true;
      simulation.tally.add(Tally.Count.COPY_FAULTS);
    }
    Deployment deployment = engine.deployment;
    Call[] self = new Call[1];
    Call call =
        call(
            () -> "%s registers %s%s".formatted(engine, role, base == null ? "" : " with " + base),
            null,
            reply -> checks.registered(reply, self[0], engine, role, base, pages));
    self[0] = call;
    call.whenHandled =
        () -> {
          engine.registered.put(role, call.handled);
          for (SimSession other : List.copyOf(deployment.sessions)) {
            if (!other.ended && other.engine == engine && other.role == role) {
              other.end();
            }
          }
        };
    call.supersedes = true;
    simulation.send(
        engine.index,
        new Command.Register(
            deployment.instance,
            deployment.model.namespace(),
            base == null ? deployment.model.format() : null,
            engine.shard,
            deployment.model.shards(),
            role,
            100 + engine.index,
            1000,
            base == null ? 0 : base.id,
            pages,
            call),
        call);
  }

  /** Ends a session. */
  void close(SimSession session, SessionEnd reason) {
    Call call =
        call(() -> session + " closes " + reason, null, reply -> checks.closed(reply, session));
    call.whenHandled = session::end;
    simulation.send(session.engine.index, new Command.CloseSession(session.id, reason, call), call);
  }

  private void cleanup(SimEngine engine, Draws draws) {
    Deployment deployment = engine.deployment;
    SimSession by = draws.oneIn(2) ? engine.any(draws) : null;
    List<SimSession> ends = new ArrayList<>();
    Call call =
        call(
            () -> "cleanup of " + deployment.instance + (by == null ? "" : " by " + by),
            by,
            reply -> checks.cleaned(reply, ends));
    call.whenHandled =
        () -> {
          deployment.cleaned = simulation.sequence();
          for (SimSession session : deployment.sessions) {
            if (!session.ended) {
              session.ending = true;
              ends.add(session);
            }
          }
        };
    simulation.send(
        engine.index,
        new Command.CleanupInstance(deployment.instance, by == null ? 0 : by.id, call),
        call);
  }

  // ---- blocks
  // ------------------------------------------------------------------------------------------------------

  /** One engine stores some pages of one group. */
  private void publish(SimEngine engine, @Nullable SimSession session, Draws draws) {
    ModelPlan model = engine.model();
    int g = draws.below(model.groups().size());
    int page = model.groups().get(g).page();
    int from = draws.oneIn(2) ? 0 : page * draws.below(5);
    publish(
        engine,
        session,
        g,
        draws.below(ModelPlan.PROMPTS),
        from,
        draws.between(1, MAX_PAGES),
        draws);
  }

  /** Every engine of an instance stores the beginning of a prompt, all groups of it. */
  private void publishPrompt(Deployment deployment, Draws draws) {
    int prompt = draws.below(ModelPlan.PROMPTS);
    deployment.lastPrompt = prompt;
    int tokens =
        deployment.model.alignment() * draws.between(1, simulation.world.tier() == null ? 2 : 3);
    for (SimEngine engine : simulation.world.engines()) {
      if (engine.deployment == deployment) {
        for (int g = 0; g < deployment.model.groups().size(); g++) {
          int pages = tokens / deployment.model.groups().get(g).page();
          publish(engine, engine.withPages(draws), g, prompt, 0, pages, draws);
        }
      }
    }
  }

  private void publish(
      SimEngine engine,
      @Nullable SimSession session,
      int g,
      int prompt,
      int from,
      int count,
      Draws draws) {
    SimPages pages = session == null ? null : session.pages;
    if (session == null || pages == null) {
      return;
    }
    ModelPlan model = engine.model();
    int page = model.groups().get(g).page();
    int[] sources = pages.take(g, count, draws);
    if (sources == null) {
      return;
    }
    Keys keys = model.keys(prompt, g, from, from + count * page);
    int groupId = model.groups().get(g).spec().groupId();
    List<Contents.Content> contents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Name name = Name.of(model.namespace(), groupId, keys, i);
      Contents.Content content =
          simulation.contents.add(name, model.slice(g, engine.shard), session.epoch);
      pages.write(g, sources[i], content.id);
      contents.add(content);
    }
    Call[] self = new Call[1];
    Call call =
        call(
            () -> "%s of %s publishes %s".formatted(session, engine, contents),
            session,
            reply -> {
              pages.giveBack(g, sources);
              checks.published(reply, self[0], session, contents);
            });
    self[0] = call;
    call.whenHandled = () -> contents.forEach(content -> content.handled = call.handled);
    simulation.send(
        engine.index,
        new Command.Publish(session.id, name("p"), groupId, keys, sources.clone(), call),
        call);
  }

  private void query(SimEngine engine, @Nullable SimSession session, Draws draws) {
    if (session == null) {
      return;
    }
    ModelPlan model = engine.model();
    int align = model.alignment();
    int prompt = draws.oneIn(2) ? engine.deployment.lastPrompt : draws.below(ModelPlan.PROMPTS);
    int start = draws.oneIn(4) ? align * draws.below(3) : 0;
    int end = start + align * draws.between(1, 24 / align);
    int limit = draws.oneIn(5) ? draws.below(end + 4) : 0;
    List<GroupKeys> groups = new ArrayList<>();
    for (int g = 0; g < model.groups().size(); g++) {
      groups.add(
          new GroupKeys(model.groups().get(g).spec().groupId(), model.keys(prompt, g, start, end)));
    }
    int mode = draws.below(10);
    int leases = simulation.world.tier() == null ? 4 : 2;
    QueryMode as =
        mode < leases
            ? QueryMode.LEASE
            : mode < 7 ? QueryMode.WAIT : mode < 9 ? QueryMode.PREPARE : QueryMode.DISCOVER;
    int asked = limit == 0 ? end : Math.min(end, limit);
    Checks.Asked question = new Checks.Asked(session, groups, start, asked, as);
    String request = draws.oneIn(4) ? "q" + draws.below(3) : name("q");
    Call[] self = new Call[1];
    Call call =
        call(
            () ->
                "%s of %s asks %s for prompt %d from %d to %d (%s)"
                    .formatted(session, engine, as, prompt, start, asked, request),
            session,
            reply -> checks.queried(reply, self[0], question));
    self[0] = call;
    long waitMillis = draws.oneIn(3) ? draws.between(1, 2_000) : 0;
    call.waitMicros = 1_000 * simulation.world.waitMillis(waitMillis);
    FactModel facts = simulation.log.model();
    call.whenHandled =
        () -> {
          question.expected =
              model.longestBoundary(
                  start,
                  asked,
                  (g, token) ->
                      as == QueryMode.DISCOVER
                          ? facts.stored(question.name(g, token))
                          : facts.found(question.name(g, token)));
          // Known as of now: a completion of this very cycle may have been the disk's recovery.
          boolean diskless = facts.diskHangs();
          question.possible =
              model.longestBoundary(
                  start,
                  asked,
                  (g, token) ->
                      diskless
                          ? facts.comingWithoutDisk(question.name(g, token))
                          : facts.coming(question.name(g, token)));
        };
    call.replaces = draws.oneIn(3);
    simulation.send(
        engine.index,
        new Command.Query(
            session.id, request, start, limit, groups, as, waitMillis, call.replaces, call),
        call);
  }

  /** One of the last leases; null if there is none of that kind. */
  private static @Nullable LeaseView someLease(
      Deployment deployment, Draws draws, boolean ofTheDead) {
    List<LeaseView> some = new ArrayList<>();
    for (int i = deployment.leases.size() - 1; i >= 0 && some.size() < 5; i--) {
      LeaseView lease = deployment.leases.get(i);
      boolean dead = lease.ended || lease.session.ended;
      if (dead == ofTheDead || draws.oneIn(12)) {
        some.add(lease);
      }
    }
    return some.isEmpty() ? null : draws.pick(some);
  }

  private void restore(SimSession session, LeaseView lease, Draws draws) {
    SimPages pages = session.pages;
    if (pages == null) {
      return;
    }
    List<Checks.Target> targets = new ArrayList<>();
    List<GroupTarget> wanted = new ArrayList<>();
    ModelPlan model = session.engine.model();
    for (LeaseView.Held held : lease.held) {
      int most = held.names().size();
      int from = draws.oneIn(2) ? 0 : draws.below(Math.max(1, most));
      int count = Math.min(MAX_PAGES, draws.oneIn(2) ? most - from : draws.below(most - from + 1));
      int[] to = count <= 0 ? null : pages.take(held.group(), count, draws);
      if (to != null) {
        ModelPlan.GroupPlan group = model.groups().get(held.group());
        targets.add(new Checks.Target(held.group(), held.names().subList(from, from + count), to));
        wanted.add(
            new GroupTarget(
                group.spec().groupId(), held.fromToken() + from * group.page(), to.clone()));
      }
    }
    if (targets.isEmpty()) {
      return;
    }
    boolean release = draws.oneIn(3);
    Call[] self = new Call[1];
    Call call =
        call(
            () ->
                "%s restores %s under %s%s"
                    .formatted(session, targets, lease, release ? " and releases it" : ""),
            session,
            reply -> {
              targets.forEach(target -> pages.giveBack(target.group(), target.pages()));
              checks.restored(reply, self[0], session, lease, targets);
              if (release && reply instanceof Reply.Restored) {
                lease.ended = true;
              }
            });
    self[0] = call;
    call.whenHandled =
        () -> {
          call.mustWork &= checks.leaseGood(lease);
          call.mustFail |= checks.leaseDead(lease);
          lease.ending |= release;
        };
    simulation.send(
        session.engine.index,
        new Command.Restore(
            session.id,
            name("r"),
            lease.id,
            wanted,
            release,
            draws.oneIn(2) ? _ -> {} : null,
            call),
        call);
  }

  private void release(SimSession session, LeaseView lease) {
    boolean[] good = new boolean[1];
    Call call =
        call(
            () -> session + " releases " + lease,
            session,
            reply -> checks.released(reply, lease, good[0]));
    call.whenHandled =
        () -> {
          good[0] = checks.leaseGood(lease) && call.mustWork;
          lease.ending = true;
        };
    simulation.send(
        session.engine.index, new Command.Release(session.id, name("f"), lease.id, call), call);
  }

  private void cancel(SimEngine engine, Draws draws) {
    SimSession session = engine.any(draws);
    if (session == null) {
      return;
    }
    Call target;
    CancelTarget what;
    if (!engine.tickets.isEmpty() && draws.oneIn(2)) {
      SimEngine.Ticket ticket = draws.pick(engine.tickets);
      target = ticket.call();
      what = new CancelTarget.Ticket(ticket.id());
    } else {
      List<Call> open = simulation.calls().stream().filter(each -> !each.answered()).toList();
      if (open.isEmpty()) {
        return;
      }
      target = draws.pick(open);
      what = new CancelTarget.AnsweredTo(target);
    }
    Call call = call(() -> session + " cancels " + target.what(), session, checks::cancelTaken);
    call.whenHandled =
        () -> {
          target.cancelled = true;
          if (what instanceof CancelTarget.Ticket(long id)) {
            checks.ticketCancelled(id, engine);
          }
        };
    simulation.send(engine.index, new Command.Cancel(session.id, name("c"), what, call), call);
  }

  private void poll(SimEngine engine, Draws draws) {
    if (engine.tickets.isEmpty()) {
      return;
    }
    SimEngine.Ticket ticket = draws.pick(engine.tickets);
    Call call =
        call(
            () -> ticket.session() + " polls ticket " + ticket.id(),
            ticket.session(),
            reply -> checks.polled(reply, ticket));
    call.polls = true;
    // A ticket that was answered through its own call is gone once it was polled.
    call.whenHandled = () -> call.mustWork = false;
    simulation.send(
        engine.index, new Command.Poll(ticket.session().id, name("w"), ticket.id(), call), call);
  }

  // ---- operators
  // ---------------------------------------------------------------------------------------------------

  private static EvictSelector selector(SimEngine engine, Draws draws) {
    ModelPlan model = engine.model();
    return switch (draws.below(10)) {
      case 0 -> new EvictSelector.All();
      case 1 -> new EvictSelector.OfNamespace(model.namespace());
      default -> {
        int g = draws.below(model.groups().size());
        int page = model.groups().get(g).page();
        yield new EvictSelector.OfKeys(
            model.namespace(),
            model.groups().get(g).spec().groupId(),
            model.keys(draws.below(ModelPlan.PROMPTS), g, 0, page * draws.between(1, 5)));
      }
    };
  }

  void evict(EvictSelector selector) {
    Call[] self = new Call[1];
    Call call =
        call(
            () -> "an operator evicts " + selector,
            null,
            reply -> checks.evicted(reply, self[0], selector));
    self[0] = call;
    simulation.send(OPERATOR, new Command.Evict(selector, call), call);
  }

  /** Asks for the status; it is held against the facts at that moment. */
  void status(Consumer<Inspection.StatusAnswer> then) {
    FactModel.Counts[] counts = {simulation.log.model().counts()};
    Call call =
        call(
            () -> "status",
            null,
            reply -> {
              if (reply instanceof Reply.Inspected(Inspection.StatusAnswer answer)) {
                checks.status(answer, counts[0]);
                then.accept(answer);
              }
            });
    call.whenHandled = () -> counts[0] = simulation.log.model().counts();
    simulation.send(OPERATOR, new Command.Inspect(new Inspection.Status(), call), call);
  }

  private void shutDown() {
    Call call = call(() -> "shutdown", null, checks::shutDown);
    call.whenHandled = simulation::stopping;
    simulation.send(OPERATOR, new Command.Shutdown("sim", call), call);
  }

  private void die(Draws draws) {
    if (!simulation.world.crashes()) {
      return;
    }
    if (draws.oneIn(3)) {
      simulation.crash();
    }
    if (draws.oneIn(2)) {
      simulation.log.crashAt(draws.below(12), draws.oneIn(2));
    }
  }

  // ---- what should have stopped
  // ------------------------------------------------------------------------------------

  private void stale(SimEngine engine, Draws draws) {
    List<SimSession> dead =
        engine.deployment.sessions.stream()
            .filter(session -> session.ended && session.engine == engine)
            .toList();
    LeaseView deadLease = someLease(engine.deployment, draws, true);
    SimSession live = engine.withPages(draws);
    if (!dead.isEmpty() && draws.oneIn(2)) {
      SimSession session = dead.get(dead.size() - 1 - draws.below(Math.min(3, dead.size())));
      LeaseView lease = someLease(engine.deployment, draws, draws.oneIn(2));
      switch (draws.below(4)) {
        case 0 -> publish(engine, session, draws);
        case 1 -> query(engine, session, draws);
        default -> {
          if (lease != null) {
            restore(session, lease, draws);
          }
        }
      }
    } else if (live != null && deadLease != null) {
      if (draws.oneIn(3)) {
        release(live, deadLease);
      } else {
        restore(live, deadLease, draws);
      }
    }
  }
}
