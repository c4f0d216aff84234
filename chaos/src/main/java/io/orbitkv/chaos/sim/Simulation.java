package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.CommandSource;
import io.orbitkv.core.LoopBroken;
import io.orbitkv.core.ManagerLoop;
import io.orbitkv.core.RefusalCode;
import io.orbitkv.core.Reply;
import io.orbitkv.core.SessionListener;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of a schedule: the manager loop as it is in a daemon, with simulated engines, time,
 * channel, copies, journal and faults around it, all on one thread.
 *
 * <p>Nothing here looks into the loop. What clients were told is held against {@link Contents} (the
 * bytes), {@link LeaseView} (the promises) and {@link FactModel} (the journal, read plainly); the
 * state that the loop works on is held against the fold of the journal.
 */
final class Simulation implements AutoCloseable {
  private static final int MAX_CYCLES = 5_000;
  private static final int MAX_NESTING = 3;

  /** A request in the channel. Those of one lane stay in order. */
  private record Sent(int lane, Command command, @Nullable Call call) {}

  final World world;
  final SimClock clock = new SimClock();
  final Contents contents = new Contents();
  final SimLog log;
  final Transcript transcript;
  final Tally tally;

  /** Confined: everything happens on one thread. */
  final Arena arena = Arena.ofConfined();

  private final Planted planted;
  private final Actions actions;
  private final List<Step> schedule;
  private final List<Sent> channel = new ArrayList<>();
  private final List<Call> calls = new ArrayList<>();
  private int next;
  private int nesting;
  private int stepIndex = -1;
  private long sequence;
  private long cycles;

  // One run of the process.
  private @Nullable SimMemory memory;
  private @Nullable ManagerLoop loop;
  private @Nullable HostState state;
  private @Nullable ExtentAllocator extents;
  private SimCopies copies;
  private final List<SimPages> mapped = new ArrayList<>();
  private boolean stopping;

  /** Bits of the pool that were flipped in this epoch. */
  int damage;

  /** Null in a world without an SSD tier. */
  private final @Nullable SimTier tier;

  /** Queries that were told to be pending, and when each ticket is due, monotonic clock. */
  private final List<Call> pending = new ArrayList<>();

  private final Map<Long, Long> due = new HashMap<>();

  private int copiesToPause;
  private int pauseSteps;
  private Draws draws = new Draws(0);

  Simulation(
      World world, List<Step> schedule, @Nullable Plant plant, Transcript transcript, Tally tally) {
    this.tally = tally;
    this.world = world;
    this.schedule = schedule;
    this.transcript = transcript;
    this.planted = new Planted(plant);
    this.log = new SimLog(this::appended);
    this.actions = new Actions(this);
    this.copies = new SimCopies(world.config().maxCopiesInFlight());
    this.tier =
        world.tier() == null
            ? null
            : new SimTier(
                world, world.tier(), arena, clock, log.model(), planted, tally, this::say);
    tally.add(Tally.Count.SEEDS);
    tally.add(Tally.Count.SEEDS_WITH_SSD, tier == null ? 0 : 1);
  }

  /**
   * Runs the whole schedule, drains, and checks the end.
   *
   * @throws Violation when a rule does not hold
   */
  void run() {
    start();
    while (next < schedule.size()) {
      runNext();
    }
    stepIndex = schedule.size();
    drain();
  }

  /** The step that is or was under way, -1 before the first. */
  int stepIndex() {
    return stepIndex;
  }

  private void runNext() {
    Step step = schedule.get(next++);
    tally.add(Tally.Count.STEPS);
    stepIndex = step.index();
    Draws outer = draws;
    draws = new Draws(step.draw());
    SimEngine engine = world.engines().get(draws.below(world.engines().size()));
    try {
      clock.advanceMicros(draws.below(2_000));
      if (log.full && draws.oneIn(12)) {
        log.full = false;
        say(() -> "the journal has room again");
      }
      actions.act(step.kind(), engine, draws);
      int rest = draws.below(10);
      if (rest > 2) {
        rest();
      } else if (rest > 0) {
        cycle();
      }
      if (draws.oneIn(24)) {
        checkDeep();
      }
    } catch (Crash crash) {
      crash();
    }
    draws = outer;
    if (live().ended()) {
      say(() -> "the epoch has ended in order");
      tally.add(Tally.Count.STOPS);
      succeed();
    }
  }

  // ---- the process
  // -------------------------------------------------------------------------------------------------

  private void start() {
    for (int attempt = 0; ; attempt++) {
      try {
        begin();
        return;
      } catch (Crash crash) {
        say(() -> "killed as it started");
        tally.add(Tally.Count.KILLS);
        log.noCrash();
        Violation.require(attempt < 3, Rule.RESTS, () -> "the process never starts");
      }
    }
  }

  private void begin() {
    damage = 0;
    stopping = false;
    HostState recovered = log.recovered();
    Set<Long> onSsd = tier == null ? Set.of() : log.model().onSsd();
    tally.add(Tally.Count.EPOCHS);
    MemorySegment pool =
        arena.allocate(world.config().poolBytes(), ExtentAllocator.DIRECT_GRANULE_BYTES);
    SimMemory fresh = new SimMemory(pool);
    ExtentAllocator books =
        planted.extents(
            fresh,
            tier == null ? ExtentAllocator.GRANULE_BYTES : ExtentAllocator.DIRECT_GRANULE_BYTES,
            recovered.nextExtentGeneration());
    state = recovered;
    extents = books;
    memory = fresh;
    copies = planted.copies(world.config().maxCopiesInFlight());
    CommandSource source = this::poll;
    ManagerLoop running =
        new ManagerLoop(
            world.config(),
            "sim",
            recovered,
            planted.log(log),
            clock,
            source,
            world.config().eviction().create(),
            books,
            pool,
            copies,
            SessionListener.NONE,
            tier == null ? null : tier.open(recovered, fresh));
    loop = running;
    for (int i = 0; !running.serving(); i++) {
      work(running);
      Violation.require(i < MAX_CYCLES, Rule.RESTS, () -> "the epoch never begins");
    }
    planted.serving();
    say(() -> "epoch " + log.model().epoch() + " begins");
    FactModel.Counts counts = log.model().counts();
    Violation.require(
        counts.nothingOpen() && counts.sealedBlocks() == 0 && books.usedExtents() == 0,
        Rule.DRAINS,
        () -> "a new epoch begins with something open: " + counts);
    Violation.require(
        log.model().storedIds().equals(onSsd),
        Rule.RESTART,
        () ->
            "blocks %s are found after the restart, %s were on SSD"
                .formatted(log.model().storedIds(), onSsd));
  }

  /** The process is killed and another one starts on its journal. */
  void crash() {
    tally.add(Tally.Count.KILLS);
    succeed();
  }

  /** The process is gone and another one starts on its journal. */
  private void succeed() {
    log.noCrash();
    say(() -> "the process ends at fact " + log.facts());
    if (tier != null) {
      tier.die(draws);
    }
    contents.processDied(++sequence);
    if (tier == null) {
      contents.dropAll(null, sequence);
    }
    mapped.forEach(SimPages::abandon);
    mapped.clear();
    channel.clear();
    calls.clear();
    pending.clear();
    due.clear();
    planted.epochEnds();
    for (Deployment deployment : world.deployments()) {
      deployment.sessions.forEach(
          session -> {
            session.ending = true;
            session.ended = true;
          });
    }
    world.engines().forEach(engine -> engine.current.clear());
    start();
  }

  private ManagerLoop live() {
    ManagerLoop running = loop;
    if (running == null) {
      throw new IllegalStateException("no process runs");
    }
    return running;
  }

  /** One duty cycle; returns how much was done. */
  int cycle() {
    return work(live());
  }

  private int work(ManagerLoop on) {
    cycles++;
    int work;
    try {
      work = on.doWork();
    } catch (LoopBroken broken) {
      Throwable cause = broken.getCause();
      if (cause instanceof Crash crash) {
        throw crash;
      }
      if (cause instanceof Violation violation) {
        throw violation;
      }
      throw new Violation(Rule.INVARIANT, "the loop stops: " + cause, broken);
    }
    HostState now = state;
    if (now != null && !planted.journalLags()) {
      Violation.require(
          now.digest() == log.folded().digest() && now.position() == log.folded().position(),
          Rule.FOLD,
          () ->
              "the live state at %d is not the fold at %d"
                  .formatted(now.position(), log.folded().position()));
    }
    if (tier != null && !on.ended()) {
      tier.cycled();
    }
    return work;
  }

  /** Cycles until there is nothing to do; copies do not move and time stands still. */
  void rest() {
    for (int i = 0; cycle() > 0; i++) {
      Violation.require(i < MAX_CYCLES, Rule.RESTS, () -> "the loop never rests");
    }
    pending.removeIf(Call::answered);
    for (Call call : pending) {
      Violation.require(
          clock.monotonicMicros() <= call.dueMicros,
          Rule.PROMPT,
          () -> call.what() + " is pending behind its deadline");
    }
  }

  /** From now on the journal takes endings only. */
  void fillJournal() {
    log.full = true;
  }

  // ---- the channel
  // -------------------------------------------------------------------------------------------------

  /** Puts a request in the channel. */
  void send(int lane, Command command, Call call) {
    say(() -> "  " + call.what());
    tally.add(Tally.Count.REQUESTS);
    channel.add(new Sent(lane, command, call));
    calls.add(call);
  }

  /** A process died: what it had in the channel is lost. */
  void lose(int lane) {
    for (int i = channel.size() - 1; i >= 0; i--) {
      Sent sent = channel.get(i);
      if (sent.lane() == lane && sent.command() instanceof Command.SessionRequest) {
        channel.remove(i);
        calls.remove(sent.call());
      }
    }
  }

  private int poll(Consumer<Command> consumer, int limit) {
    int polled = 0;
    for (; polled < limit && !channel.isEmpty(); polled++) {
      int at = draws.below(channel.size());
      int lane = channel.get(at).lane();
      for (int i = 0; i < at; i++) {
        if (channel.get(i).lane() == lane) {
          at = i;
        }
      }
      Sent sent = channel.remove(at);
      Call call = sent.call();
      if (call == null) {
        consumer.accept(sent.command());
      } else {
        handle(consumer, sent.command(), call);
      }
    }
    return polled;
  }

  private void handle(Consumer<Command> consumer, Command command, Call call) {
    call.handled = ++sequence;
    call.cycle = cycles;
    SimSession session = call.session;
    if (session != null) {
      call.mustWork = sessionGood(session);
      call.mustFail = session.ended || session.epoch != log.model().epoch();
    }
    call.supersedes &= !stopping;
    call.whenHandled.run();
    int before = log.changes();
    consumer.accept(planted.command(command, log.model(), session));
    call.changes = log.changes() - before;
  }

  /**
   * A query was told that it is pending; whether the ticket was opened for it and is not that of an
   * earlier one.
   */
  boolean awaits(long ticketId, Call call) {
    tally.add(Tally.Count.WAITS);
    boolean opened = !due.containsKey(ticketId);
    if (opened) {
      due.put(ticketId, clock.monotonicMicros() + call.waitMicros);
    }
    call.dueMicros = due.getOrDefault(ticketId, 0L);
    pending.add(call);
    return opened;
  }

  /** Whether the duty cycle goes on in which the loop took a request. */
  boolean inCycleOf(Call call) {
    return call.cycle == cycles;
  }

  boolean sessionGood(SimSession session) {
    return !session.ending && !stopping && session.epoch == log.model().epoch();
  }

  /** The daemon was asked to stop. */
  void stopping() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /** Nothing runs any more, so a daemon that was asked to stop has; the next one starts. */
  void awaitEnd() {
    Violation.require(live().ended(), Rule.DRAINS, () -> "a drained daemon does not stop");
    tally.add(Tally.Count.STOPS);
    succeed();
  }

  /** The loop answers. */
  void answered(Call call, Reply reply, Consumer<Reply> check) {
    sequence++;
    say(() -> "    " + call.what() + " -> " + Transcript.text(reply));
    Violation.require(
        !call.answered(),
        Rule.ANSWERED_ONCE,
        () -> call.what() + " is answered again: " + Transcript.text(reply));
    call.answers++;
    call.last = reply;
    if (reply instanceof Reply.Refused refused) {
      tally.add(Tally.Count.REFUSALS);
      refused(call, refused);
    } else if (call.mustFail && !isHarmless(reply)) {
      throw new Violation(
          Rule.STALE_HANDLE, call.what() + " of a dead handle -> " + Transcript.text(reply));
    }
    check.accept(reply);
  }

  /** What a late request may be told besides a refusal. */
  private static boolean isHarmless(Reply reply) {
    return switch (reply) {
      case Reply.SessionClosed _, Reply.InstanceCleaned _ -> true;
      case Reply.Released released -> !released.wasOpen();
      case Reply.CancelTaken taken -> !taken.wasOpen();
      default -> false;
    };
  }

  private void refused(Call call, Reply.Refused refused) {
    boolean stopped = call.supersedes && refused.code() == RefusalCode.DRAINING;
    if (call.cycle == cycles && !stopped && call.changes > (call.replaces ? 1 : 0)) {
      throw new Violation(
          Rule.REFUSAL_CHANGES,
          "%s added %d facts and was refused: %s"
              .formatted(call.what(), call.changes, Transcript.text(refused)));
    }
    if (!call.mustWork) {
      return;
    }
    RefusalCode code = refused.code();
    boolean passing =
        switch (refused.category()) {
          case RESOURCE, UNAVAILABLE -> code != RefusalCode.DRAINING || stopping;
          case USER -> code == RefusalCode.TICKET_PENDING;
          case STALE, INTERNAL -> false;
        };
    Violation.require(
        passing,
        Rule.LEASE_HELD,
        () -> call.what() + " must be possible -> " + Transcript.text(refused));
  }

  // ---- facts
  // ------------------------------------------------------------------------------------------------------

  private void appended(Fact fact) {
    tally.add(Tally.Count.FACTS);
    HostState now = state;
    ExtentAllocator books = extents;
    if (now != null && books != null) {
      planted.appended(fact, log.model(), now, books);
    }
    if (tier != null) {
      tier.appended(fact);
    }
  }

  /** Flips a bit of an extent in use, if there is one. */
  void flipBit(Draws with) {
    if (memory != null && memory.flipBit(with)) {
      damage++;
      tally.add(Tally.Count.POOL_FLIPS);
      say(() -> "  a bit of the pool flips");
    }
  }

  // ---- the disk
  // ----------------------------------------------------------------------------------------------------

  /** The disk's thread has its turn. */
  void disk(Draws with) {
    if (tier != null) {
      tier.turn(with);
    }
  }

  /** Whether the disk has something to do that anybody waits for. */
  boolean diskBusy() {
    return tier != null && tier.busy() && !live().ended();
  }

  /** The disk works and has room from here on. */
  void healDisk() {
    if (tier != null) {
      tier.heal();
    }
  }

  /** Flips bits on the disk, if the world is so. */
  void flipOnDisk(Draws with) {
    if (tier != null) {
      tier.flipBits(with);
    }
  }

  // ---- copies
  // ------------------------------------------------------------------------------------------------------

  SimPages map(ModelPlan model, Draws with) {
    SimPages pages =
        new SimPages(
            model,
            arena,
            with,
            new SimPages.Watcher() {
              @Override
              public void touches(long extentOffset, int extentBytes) {
                SimMemory of = memory;
                if (of != null) {
                  of.touches(extentOffset, extentBytes);
                }
              }

              @Override
              public void moved() {
                pause();
              }
            });
    mapped.add(pages);
    return pages;
  }

  /**
   * Runs one waiting copy, perhaps with other steps in the middle of it.
   *
   * @param pauseAfter layers of blocks that move first, 0 for no pause
   */
  void runCopy(int index, int pauseAfter, int steps) {
    SimCopies of = copies;
    if (of.waiting() == 0) {
      return;
    }
    tally.add(Tally.Count.COPIES);
    copiesToPause = pauseAfter;
    pauseSteps = steps;
    say(() -> "  a copy runs");
    of.run(index % of.waiting());
    copiesToPause = 0;
  }

  int waitingCopies() {
    return copies.waiting();
  }

  private void pause() {
    if (copiesToPause == 0 || --copiesToPause > 0 || nesting >= MAX_NESTING) {
      return;
    }
    nesting++;
    say(() -> "  in the middle of the copy:");
    int until = Math.min(schedule.size(), next + pauseSteps);
    while (next < until) {
      runNext();
    }
    say(() -> "  the copy goes on");
    nesting--;
  }

  // ---- checks
  // ------------------------------------------------------------------------------------------------------

  long sequence() {
    return sequence;
  }

  List<Call> calls() {
    return calls;
  }

  void say(Supplier<String> line) {
    if (transcript.isKept()) {
      transcript.line(stepIndex, line.get());
    }
  }

  private void checkDeep() {
    HostState now = state;
    ExtentAllocator books = extents;
    if (now == null || books == null) {
      return;
    }
    try {
      HostInvariants.checkDeep(now);
      books.check();
    } catch (IllegalStateException broken) {
      throw new Violation(Rule.INVARIANT, String.valueOf(broken.getMessage()), broken);
    }
    Violation.require(
        tier == null
            ? now.extentBytes() == books.usedBytes() && now.extents() == books.usedExtents()
            : now.extentBytes() <= books.usedBytes(),
        Rule.INVARIANT,
        () ->
            "the state has %d bytes in %d extents, the pool %d in %d"
                .formatted(
                    now.extentBytes(), now.extents(), books.usedBytes(), books.usedExtents()));
  }

  private void drain() {
    say(() -> "drains");
    log.noCrash();
    log.full = false;
    draws = new Draws(1);
    new Drain(this, actions).run();
    checkDeep();
    ExtentAllocator books = extents;
    Violation.require(
        books != null && books.usedExtents() == 0, Rule.DRAINS, () -> "extents are still in use");
    for (SimPages pages : mapped) {
      Violation.require(pages.closed(), Rule.DRAINS, () -> "pages of an engine are still mapped");
    }
    for (Call call : calls) {
      Violation.require(
          call.answered(), Rule.ANSWERED_ONCE, () -> call.what() + " was never answered");
    }
    log.checkFromScratch();
  }

  @Override
  public void close() {
    arena.close();
  }
}
