package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.identity.StateFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A manager loop without a thread: its time, commands, copies and journal in the test's hands. What
 * is sent and what came of it is kept as text.
 */
final class TestLoop {
  static final int BLOCKS = 256;

  /** What was answered to one command, in order. */
  static final class Answers implements ReplySink {
    final List<Reply> replies = new ArrayList<>();

    @Override
    public void reply(Reply reply) {
      replies.add(reply);
    }

    Reply last() {
      return replies.getLast();
    }

    <T extends Reply> T last(Class<T> type) {
      return assertInstanceOf(type, last());
    }

    RefusalCode refusal() {
      return last(Reply.Refused.class).code();
    }
  }

  final FakeClock clock;
  final FakeCopies copies = new FakeCopies();
  final FakeLog log;
  final HostState state;
  final ExtentAllocator extents;
  final MemorySegment pool;
  final @Nullable FakeSsd ssd;
  final ManagerLoop loop;
  final ArrayDeque<Command> commands = new ArrayDeque<>();
  final List<String> closedSessions = new ArrayList<>();
  private int written;

  TestLoop(HostConfig config) {
    this(config, new HostState(), new FakeClock());
  }

  TestLoop(HostConfig config, HostState recovered, FakeClock clock) {
    this(config, recovered, clock, new FakeLog(recovered.position()));
  }

  TestLoop(HostConfig config, HostState recovered, FakeClock clock, FakeLog log) {
    this(config, recovered, clock, log, null, null, newPool(config), PoolId.NONE, null);
  }

  /** A loop with an SSD tier on {@code ssd}, which keeps its bytes from loop to loop. */
  static TestLoop withSsd(
      HostConfig config, SsdSettings settings, FakeSsd ssd, HostState recovered, FakeClock clock) {
    return new TestLoop(
        config,
        recovered,
        clock,
        new FakeLog(recovered.position()),
        ssd,
        settings,
        newPool(config),
        PoolId.NONE,
        null);
  }

  /** A loop that works with others. */
  static TestLoop withPeers(
      HostConfig config, HostState recovered, FakeClock clock, @Nullable FakeSsd ssd, Peers peers) {
    return new TestLoop(
        config,
        recovered,
        clock,
        new FakeLog(recovered.position()),
        ssd,
        ssd == null ? null : new SsdSettings(SsdAdmission.ALL, 1 << 20, 1 << 20, 100, 1_000),
        Arena.ofAuto().allocate(config.poolBytes(), 4096),
        PoolId.NONE,
        peers);
  }

  /** A loop over memory that outlives it. */
  static TestLoop persistent(
      HostConfig config,
      HostState recovered,
      FakeClock clock,
      FakeLog log,
      @Nullable FakeSsd ssd,
      MemorySegment pool,
      PoolId poolId) {
    SsdSettings settings = new SsdSettings(SsdAdmission.ALL, 1 << 20, 1 << 20, 100, 1_000);
    return new TestLoop(config, recovered, clock, log, ssd, settings, pool, poolId, null);
  }

  static MemorySegment newPool(HostConfig config) {
    return MemorySegment.ofArray(new byte[(int) config.poolBytes()]);
  }

  private TestLoop(
      HostConfig config,
      HostState recovered,
      FakeClock clock,
      FakeLog log,
      @Nullable FakeSsd ssd,
      @Nullable SsdSettings settings,
      MemorySegment pool,
      PoolId poolId,
      @Nullable Peers peers) {
    this.ssd = ssd;
    this.clock = clock;
    this.state = recovered;
    this.log = log;
    this.extents = new ExtentAllocator(config.poolBytes(), recovered.nextExtentGeneration());
    this.pool = pool;
    this.loop =
        new ManagerLoop(
            config,
            "test",
            recovered,
            log,
            clock,
            (consumer, limit) -> {
              int polled = 0;
              for (Command command;
                  polled < limit && (command = commands.poll()) != null;
                  polled++) {
                consumer.accept(command);
              }
              return polled;
            },
            config.eviction().create(),
            extents,
            pool,
            copies,
            (sessionId, reason) -> closedSessions.add(sessionId + " " + reason),
            ssd == null || settings == null ? null : ssd.tier(recovered, settings),
            poolId,
            peers);
    for (int steps = 0; !loop.serving(); steps++) {
      assertEquals(1, loop.doWork());
      if (steps > 10_000) {
        throw new AssertionError("the epoch never begins");
      }
    }
  }

  /** A pool that holds just so many blocks of {@link Formats}; every copy is left to the test. */
  static HostConfig.Builder config(int capacityBlocks) {
    return HostConfig.forPool((long) capacityBlocks * Formats.EXTENT_BYTES)
        .eviction(Eviction.LRU)
        .inlineCopyBytes(0)
        .globalBudgetBytes(1 << 30)
        .instanceBudgetBytes(1 << 30);
  }

  // ---- stepping
  // ----------------------------------------------------------------------------------------------------

  Answers send(Command command) {
    commands.add(command);
    step();
    return (Answers) ((Command.Request) command).replyTo();
  }

  /** Cycles until nothing is to be done; copies do not move. */
  void step() {
    for (int cycles = 0; loop.doWork() > 0; cycles++) {
      if (cycles > 100_000) {
        throw new AssertionError("the loop never rests");
      }
    }
  }

  /** Lets every copy end, and every operation of the disk. */
  void drain() {
    do {
      drainCopies();
      if (ssd != null) {
        ssd.finishAll(pool);
        step();
      }
    } while (!copies.running.isEmpty() || (ssd != null && !ssd.running.isEmpty()));
  }

  void drainCopies() {
    do {
      copies.finishAll();
      step();
    } while (!copies.running.isEmpty());
  }

  /** Lets one operation of the disk end. */
  void finishSsd(int index) {
    Objects.requireNonNull(ssd).finish(index, pool);
    step();
  }

  // ---- commands
  // ----------------------------------------------------------------------------------------------------

  Answers register(
      String instance,
      String namespace,
      StateFormat format,
      int shard,
      int shardCount,
      SessionRole role,
      @Nullable FakeBuffers buffers) {
    return send(
        new Command.Register(
            instance,
            namespace,
            format,
            shard,
            shardCount,
            role,
            100 + shard,
            1000,
            0,
            buffers,
            new Answers()));
  }

  /** A LOAD session of shard 0 of 1 of namespace "ns" with one prefix group. */
  long open(String instance, FakeBuffers buffers) {
    return register(instance, "ns", Formats.of(Formats.prefix(0)), 0, 1, SessionRole.LOAD, buffers)
        .last(Reply.Registered.class)
        .sessionId();
  }

  Answers close(long session, SessionEnd reason) {
    return send(new Command.CloseSession(session, reason, new Answers()));
  }

  Answers cleanup(String instance, long bySession) {
    return send(new Command.CleanupInstance(instance, bySession, new Answers()));
  }

  Answers publish(long session, String request, int group, Keys keys, int... sources) {
    int[] blocks = sources.length > 0 ? sources : upTo(keys.size());
    return send(new Command.Publish(session, request, group, keys, blocks, new Answers()));
  }

  Answers publishNow(long session, String request, Keys keys, int... sources) {
    Answers answers = publish(session, request, 0, keys, sources);
    drain();
    return answers;
  }

  Answers query(long session, String request, QueryMode mode, Keys... groups) {
    return send(queryOf(session, request, mode, 0, false, groups));
  }

  Command.Query queryOf(
      long session, String request, QueryMode mode, int limit, boolean replace, Keys... groups) {
    List<GroupKeys> keys = new ArrayList<>();
    for (int g = 0; g < groups.length; g++) {
      keys.add(new GroupKeys(g, groups[g]));
    }
    return new Command.Query(session, request, 0, limit, keys, mode, 0, replace, new Answers());
  }

  Reply.Ready lease(long session, String request, Keys keys) {
    return query(session, request, QueryMode.LEASE, keys).last(Reply.Ready.class);
  }

  Answers restore(long session, long lease, int fromToken, int... targets) {
    return send(
        new Command.Restore(
            session,
            "restore",
            lease,
            List.of(new GroupTarget(0, fromToken, targets)),
            false,
            null,
            new Answers()));
  }

  Answers release(long session, long lease) {
    return send(new Command.Release(session, "release", lease, new Answers()));
  }

  Answers cancelTicket(long session, long ticket) {
    return send(new Command.Cancel(session, "c", new CancelTarget.Ticket(ticket), new Answers()));
  }

  Inspection.StatusAnswer status() {
    return (Inspection.StatusAnswer)
        send(new Command.Inspect(new Inspection.Status(), new Answers()))
            .last(Reply.Inspected.class)
            .answer();
  }

  static int[] upTo(int count) {
    int[] blocks = new int[count];
    for (int i = 0; i < count; i++) {
      blocks[i] = i;
    }
    return blocks;
  }

  /** One 4-byte key for each letter. */
  static Keys keys(String letters) {
    byte[] packed = new byte[letters.length() * 4];
    for (int i = 0; i < letters.length(); i++) {
      packed[4 * i] = (byte) letters.charAt(i);
    }
    return letters.isEmpty() ? Keys.EMPTY : Keys.ofPacked(4, packed);
  }

  static Keys numbered(int... numbers) {
    byte[] packed = new byte[numbers.length * 4];
    for (int i = 0; i < numbers.length; i++) {
      ByteBuffer.wrap(packed).putInt(4 * i, numbers[i]);
    }
    return Keys.ofPacked(4, packed);
  }

  static String letters(Keys keys) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < keys.size(); i++) {
      text.append(new String(keys.key(i), 0, 1, StandardCharsets.US_ASCII));
    }
    return text.toString();
  }

  // ---- what came of it
  // ---------------------------------------------------------------------------------------------

  /** The facts since the last call, one a line. */
  String facts() {
    StringBuilder text = new StringBuilder();
    for (; written < log.facts.size(); written++) {
      text.append(log.facts.get(written).event()).append('\n');
    }
    return text.toString();
  }

  /** Names of the facts since the last call. */
  String factNames() {
    StringBuilder text = new StringBuilder();
    for (; written < log.facts.size(); written++) {
      text.append(text.isEmpty() ? "" : " ").append(name(log.facts.get(written).event()));
    }
    return text.toString();
  }

  private static String name(HostEvent event) {
    return event.getClass().getSimpleName();
  }

  /**
   * Checks every invariant, and that the facts of this epoch fold to the same state from {@code
   * before}.
   */
  void check(HostState before) {
    HostInvariants.checkDeep(state);
    extents.check();
    LiveTier tier = loop.decider().host().tier;
    if (tier == null || tier.idle()) {
      assertEquals(state.extentBytes(), extents.usedBytes(), "bytes of extents in state and pool");
      assertEquals(state.extents(), extents.usedExtents(), "extents in state and pool");
    }
    if (tier != null) {
      tier.extents.check();
      long backlogBytes = 0;
      for (int slot = tier.backlog.first(); slot >= 0; slot = tier.backlog.next(slot)) {
        backlogBytes += state.sealed(slot) ? loop.decider().host().allocatedBytes(slot) : -1;
      }
      assertEquals(backlogBytes, tier.backlogBytes(), "bytes of blocks that wait for the disk");
      if (tier.idle()) {
        assertEquals(state.ssdBytes(), tier.extents.usedBytes(), "bytes on SSD");
        assertEquals(state.ssdExtents(), tier.extents.usedExtents(), "extents on SSD");
      }
    }
    for (Fact fact : log.facts) {
      before.apply(fact, Effects.NONE);
    }
    assertEquals(state.digest(), before.digest(), "digest of the replayed facts");
  }

  /** Checks that nothing is held any more. */
  void checkIdle() {
    Host host = loop.decider().host();
    assertEquals(0, host.budget.usedBytes(), "global budget");
    assertEquals(0, state.openLeases(), "leases");
    assertEquals(0, state.openTickets(), "tickets");
    assertEquals(0, state.openPublishes(), "publishes");
    assertEquals(0, state.openRestores(), "restores");
    assertEquals(0, state.evictedBlocks(), "evicted blocks that are pinned");
    assertEquals(0, host.blocksInCopy, "blocks in copy");
    if (host.tier != null) {
      assertEquals(0, host.tier.queuedBytes, "bytes on their way to SSD");
      assertEquals(0, host.tier.loadingBytes, "bytes on their way from SSD");
      assertEquals(0, host.tier.heldBlocks(), "blocks held for tickets");
    }
    for (int slot = 0; slot < state.slotLimit(); slot++) {
      if (state.blockId(slot) != 0) {
        assertEquals(0, state.pins(slot), "pins of block " + state.blockId(slot));
      }
    }
    if (host.peers != null) {
      assertEquals(0, state.openGrants(), "grants");
      assertEquals(0, state.openRemoteReads(), "remote reads");
      assertEquals(0, host.peers.fetching.total(), "bytes on their way from others");
      assertEquals(0, host.peers.granted.total(), "granted bytes");
      assertEquals(0, host.peers.heldBlocks(), "blocks held for those who wait");
      assertEquals(0, host.peers.lookups.size(), "lookups");
    }
    for (LiveInstance instance : host.instances.values()) {
      assertEquals(0, instance.budget.usedBytes(), "budget of " + instance.name);
    }
  }
}
