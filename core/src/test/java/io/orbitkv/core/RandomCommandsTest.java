package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.EvictSelector;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.identity.StateFormat;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random commands of several instances, shards and groups, legal and not, with copies that end in
 * any order or fail, time that jumps, a journal that fills up, and restarts. After draining nothing
 * is held, every invariant holds, and the facts fold to the same state.
 */
class RandomCommandsTest {
  private static final StateFormat[] FORMATS = {
    Formats.of(Formats.prefix(0)),
    Formats.of(Formats.prefix(0), Formats.window(1, 6)),
    Formats.of(Formats.replicated(0))
  };
  private static final int[] SHARDS = {1, 2, 2};

  private record Engine(long session, int kind, FakeBuffers pages) {}

  private @Nullable FakeSsd ssd;
  private final List<Engine> engines = new ArrayList<>();
  private final List<Long> leases = new ArrayList<>();
  private final List<Long> tickets = new ArrayList<>();
  private final List<TestLoop.Answers> answers = new ArrayList<>();

  @Test
  void shouldHoldEveryInvariantWhateverIsAsked() {
    long fixed = Long.getLong("seed", 0);
    int runs = Integer.getInteger("runs", fixed == 0 ? 60 : 1);
    for (int run = 0; run < runs; run++) {
      long seed = fixed != 0 ? fixed : 77_000 + run;
      try {
        run(seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed "
                + seed
                + "; repeat: mvn test -pl core -am -Dtest=RandomCommandsTest -Dseed="
                + seed,
            e);
      }
    }
  }

  private void run(long seed) {
    Random random = new Random(seed);
    boolean tiered = seed % 2 == 1;
    ssd = tiered ? new FakeSsd(seed, 1 + random.nextInt(2), 4 + random.nextInt(40)) : null;
    HostConfig config =
        TestLoop.config((8 + random.nextInt(40)) * (tiered ? 8 : 1))
            .eviction(random.nextInt(4) == 0 ? Eviction.TINYLFU : Eviction.LRU)
            .globalBudgetBytes(30L * Formats.EXTENT_BYTES * (tiered ? 8 : 1))
            .instanceBudgetBytes(20L * Formats.EXTENT_BYTES * (tiered ? 8 : 1))
            .inlineCopyBytes(random.nextBoolean() ? 0 : 256)
            .leaseTtlMillis(3_000)
            .ticketMillis(500)
            .unsealedTtlMillis(700)
            .registerWaitMillis(300)
            .digestEveryFacts(1 + random.nextInt(50))
            .maxTicketsPerSession(4)
            .maxLeasesPerSession(6)
            .maxWaitingRegistrations(3)
            .maxCopiesInFlight(5)
            .maxSessions(9)
            .build();
    HostState before = new HostState();
    TestLoop loop = loop(config, new HostState(), new FakeClock(), random);
    for (int epoch = 0; epoch < 3; epoch++) {
      engines.clear();
      leases.clear();
      tickets.clear();
      answers.clear();
      for (int i = 0; i < 150; i++) {
        act(loop, random);
        if (i % 25 == 0) {
          HostInvariants.checkDeep(loop.state);
          loop.extents.check();
        }
      }
      if (random.nextBoolean()) {
        drainAndCheck(loop, random);
      }
      loop.check(before);
      if (ssd != null && random.nextInt(4) == 0) {
        ssd = random.nextBoolean() ? new FakeSsd(-seed, 1, 9) : null;
      }
      loop = loop(config, copy(before), loop.clock, random);
      loop.checkIdle();
    }
  }

  private TestLoop loop(HostConfig config, HostState recovered, FakeClock clock, Random random) {
    SsdSettings settings =
        new SsdSettings(
            random.nextInt(3) == 0 ? SsdAdmission.REUSE : SsdAdmission.ALL,
            (1 + random.nextInt(30)) * 4096L,
            (1 + random.nextInt(30)) * 4096L,
            200,
            300);
    return ssd == null
        ? new TestLoop(config, recovered, clock)
        : TestLoop.withSsd(config, settings, ssd, recovered, clock);
  }

  /** A copy of a state, through a checkpoint. */
  private static HostState copy(HostState state) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      state.writeTo(new DataOutputStream(bytes));
      return HostState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void act(TestLoop loop, Random random) {
    if (ssd != null && random.nextInt(4) == 0 && !ssd.running.isEmpty()) {
      finishSsd(loop, random);
    }
    switch (random.nextInt(20)) {
      case 0, 1 -> register(loop, random);
      case 2 -> {
        if (random.nextInt(3) == 0) {
          end(loop, random);
        }
      }
      case 3, 4, 5, 6 -> publish(loop, random);
      case 7, 8, 9, 10 -> query(loop, random);
      case 11, 12 -> restore(loop, random);
      case 13 -> {
        if (!leases.isEmpty()) {
          send(loop, release(random, leases.get(random.nextInt(leases.size()))));
        }
      }
      case 14 -> cancel(loop, random);
      case 15 -> loop.clock.advanceMillis(random.nextInt(400));
      case 16 -> {
        if (random.nextInt(4) == 0) {
          evict(loop, random);
        }
      }
      case 17 -> loop.log.full = random.nextInt(5) == 0;
      default -> {
        if (!loop.copies.running.isEmpty()) {
          finish(loop, random);
        }
      }
    }
  }

  private void finishSsd(TestLoop loop, Random random) {
    FakeSsd disk = Objects.requireNonNull(ssd);
    int[] failures = {SsdTask.SHORT, SsdTask.CHECKSUM, 5, 28};
    for (int i = 0; i < 20; i++) {
      boolean fails = random.nextInt(15) == 0;
      disk.results.add(fails ? failures[random.nextInt(failures.length)] : SsdTask.DONE);
    }
    disk.limit = random.nextInt(30) == 0 ? 1 : Integer.MAX_VALUE;
    disk.finish(random.nextInt(disk.running.size()), loop.pool);
    if (random.nextBoolean()) {
      loop.step();
    }
    disk.results.clear();
  }

  private static void finish(TestLoop loop, Random random) {
    int index = random.nextInt(loop.copies.running.size());
    if (random.nextInt(12) == 0) {
      loop.copies.running.get(index).cancel();
    }
    loop.copies.finish(index);
    if (random.nextBoolean()) {
      loop.step();
    }
  }

  private void send(TestLoop loop, Command command) {
    TestLoop.Answers sink = loop.send(command);
    answers.add(sink);
    for (TestLoop.Answers known : answers) {
      for (Reply reply : known.replies) {
        if (reply instanceof Reply.Ready ready && !leases.contains(ready.leaseId())) {
          leases.add(ready.leaseId());
        } else if (reply instanceof Reply.Loading loading
            && !tickets.contains(loading.ticketId())) {
          tickets.add(loading.ticketId());
        }
      }
    }
  }

  private void register(TestLoop loop, Random random) {
    int kind = random.nextInt(FORMATS.length);
    int shard = random.nextInt(SHARDS[kind]);
    SessionRole role = random.nextInt(4) == 0 ? SessionRole.SAVE : SessionRole.LOAD;
    FakeBuffers pages = FakeBuffers.of(2, Formats.LAYERS, 16, Formats.LAYER_BYTES);
    if (random.nextInt(15) == 0) {
      pages.failure = new IllegalStateException("bus error");
    }
    String instance = "i" + kind + random.nextInt(2);
    long attachTo =
        !engines.isEmpty() && random.nextInt(5) == 0
            ? engines.get(random.nextInt(engines.size())).session()
            : 0;
    TestLoop.Answers sink =
        loop.send(
            new Command.Register(
                instance,
                "n" + (random.nextInt(20) == 0 ? 9 : kind),
                attachTo == 0 ? FORMATS[kind] : null,
                shard,
                SHARDS[kind],
                role,
                1,
                1,
                attachTo,
                attachTo == 0 ? pages : null,
                new TestLoop.Answers()));
    answers.add(sink);
    if (attachTo != 0) {
      pages.close();
    }
    if (!sink.replies.isEmpty() && sink.last() instanceof Reply.Registered opened) {
      engines.add(new Engine(opened.sessionId(), kind, pages));
    }
  }

  private Engine engine(Random random) {
    return engines.isEmpty()
        ? new Engine(1 + random.nextInt(5), 0, FakeBuffers.of(1, 1, 1, 1))
        : engines.get(random.nextInt(engines.size()));
  }

  private void end(TestLoop loop, Random random) {
    long session = engine(random).session();
    SessionEnd[] ends = {
      SessionEnd.DISCONNECTED, SessionEnd.UNREGISTERED, SessionEnd.PROTOCOL_VIOLATION
    };
    if (random.nextInt(3) > 0) {
      send(
          loop,
          new Command.CloseSession(
              session, ends[random.nextInt(ends.length)], new TestLoop.Answers()));
    } else {
      String instance = "i" + random.nextInt(3) + random.nextInt(2);
      send(
          loop,
          new Command.CleanupInstance(
              instance, random.nextBoolean() ? 0 : session, new TestLoop.Answers()));
    }
  }

  private static Keys keys(Random random) {
    int prompt = random.nextInt(5);
    int[] numbers = new int[1 + random.nextInt(8)];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = prompt * 100 + i;
    }
    if (random.nextInt(10) == 0) {
      numbers[numbers.length - 1] = numbers[0];
    }
    return TestLoop.numbered(numbers);
  }

  private void publish(TestLoop loop, Random random) {
    Engine engine = engine(random);
    Keys keys = keys(random);
    int[] sources = TestLoop.upTo(keys.size());
    if (random.nextInt(20) == 0) {
      sources[0] = random.nextInt(40) - 10;
    }
    int group = random.nextInt(engine.kind() == 1 ? 2 : 1);
    send(
        loop,
        new Command.Publish(engine.session(), "p", group, keys, sources, new TestLoop.Answers()));
  }

  private void query(TestLoop loop, Random random) {
    Engine engine = engine(random);
    Keys keys = keys(random);
    Keys[] groups = engine.kind() == 1 ? new Keys[] {keys, keys} : new Keys[] {keys};
    QueryMode[] modes = QueryMode.values();
    send(
        loop,
        loop.queryOf(
            engine.session(),
            random.nextInt(4) == 0 ? "" : "q" + random.nextInt(3),
            modes[random.nextInt(modes.length)],
            random.nextInt(4) == 0 ? random.nextInt(40) : 0,
            random.nextBoolean(),
            groups));
  }

  private void restore(TestLoop loop, Random random) {
    if (leases.isEmpty()) {
      return;
    }
    int[] targets = new int[1 + random.nextInt(4)];
    int first = random.nextInt(14);
    for (int i = 0; i < targets.length; i++) {
      targets[i] = first + i;
    }
    send(
        loop,
        new Command.Restore(
            engine(random).session(),
            "r",
            leases.get(random.nextInt(leases.size())),
            List.of(new GroupTarget(0, 4 * random.nextInt(3), targets)),
            random.nextInt(3) == 0,
            random.nextBoolean() ? layers -> {} : null,
            new TestLoop.Answers()));
  }

  private Command release(Random random, long lease) {
    return new Command.Release(engine(random).session(), "r", lease, new TestLoop.Answers());
  }

  private void cancel(TestLoop loop, Random random) {
    CancelTarget target =
        tickets.isEmpty() || random.nextBoolean()
            ? new CancelTarget.AnsweredTo(
                answers.isEmpty()
                    ? new TestLoop.Answers()
                    : answers.get(random.nextInt(answers.size())))
            : new CancelTarget.Ticket(tickets.get(random.nextInt(tickets.size())));
    send(loop, new Command.Cancel(engine(random).session(), "c", target, new TestLoop.Answers()));
  }

  private void evict(TestLoop loop, Random random) {
    EvictSelector selector =
        switch (random.nextInt(3)) {
          case 0 -> new EvictSelector.All();
          case 1 -> new EvictSelector.OfNamespace("n" + random.nextInt(3));
          default -> new EvictSelector.OfKeys("n" + random.nextInt(3), 0, keys(random));
        };
    send(loop, new Command.Evict(selector, new TestLoop.Answers()));
  }

  private void drainAndCheck(TestLoop loop, Random random) {
    loop.log.full = false;
    loop.step();
    LiveTier tier = loop.loop.decider().host().tier;
    if (tier != null && tier.hanging) {
      loop.drain(); // a daemon that ends does not wait for a disk that hangs
    }
    if (random.nextBoolean()) {
      TestLoop.Answers shutdown = loop.send(new Command.Shutdown("stop", new TestLoop.Answers()));
      loop.drain();
      assertEquals(new Reply.ShutDown(loop.state.position()), shutdown.last());
    } else {
      for (Engine engine : engines) {
        loop.close(engine.session(), SessionEnd.DISCONNECTED);
      }
      loop.drain();
      loop.clock.advanceMillis(10_000);
      loop.step();
      loop.drain();
      for (int i = 0; i < 2; i++) {
        for (var session : loop.state.sessions()) {
          loop.close(session.id(), SessionEnd.DISCONNECTED);
        }
        loop.drain();
      }
    }
    loop.checkIdle();
    assertEquals(0, loop.state.sessions().size(), "sessions");
    assertEquals(0, loop.state.instances().size(), "instances");
    for (Engine engine : engines) {
      assertTrue(engine.pages().closed, "pages of session " + engine.session() + " are unmapped");
    }
    List<Long> ended = new ArrayList<>();
    for (TestLoop.Answers sink : answers) {
      if (sink.replies.size() == 2 && sink.replies.getFirst() instanceof Reply.Loading loading) {
        ended.add(loading.ticketId());
      }
    }
    for (TestLoop.Answers sink : answers) {
      assertTrue(!sink.replies.isEmpty(), "answered");
      // Who found a ticket by asking again is told of its end through the first one's sink only.
      assertTrue(
          !(sink.last() instanceof Reply.Loading loading) || ended.contains(loading.ticketId()),
          "answered");
      assertTrue(sink.replies.size() <= 2, "answered once");
    }
  }
}
