package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.PoolCounter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a daemon that died left in a pool that outlives it, and what the next one makes of it. */
class AdoptionTest {
  private static final PoolId ID = new PoolId(3, 5);

  private HostConfig config = TestLoop.config(8).build();
  private MemorySegment pool = offHeap(config);
  private final List<Fact> facts = new ArrayList<>();
  private final FakeClock clock = new FakeClock();
  private @Nullable FakeSsd ssd;
  private final FakeBuffers buffers = buffers();

  private static MemorySegment offHeap(HostConfig config) {
    return Arena.ofAuto().allocate(config.poolBytes(), 4096);
  }

  private static FakeBuffers buffers() {
    FakeBuffers buffers = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    buffers.realSums = true;
    for (int page = 0; page < 32; page++) {
      buffers.fill(0, page, 10 + page);
    }
    return buffers;
  }

  private HostState fold() {
    HostState state = new HostState();
    facts.forEach(fact -> state.apply(fact, Effects.NONE));
    return state;
  }

  private TestLoop start(PoolId id) {
    HostState state = fold();
    return TestLoop.persistent(config, state, clock, new FakeLog(state.position()), ssd, pool, id);
  }

  /** The daemon dies: its facts and its pool are all that is left of it. */
  private void kill(TestLoop loop) {
    loop.check(fold());
    facts.addAll(loop.log.facts);
  }

  /** A run that published {@code letters}, each from the page of its place in the alphabet. */
  private TestLoop ranWith(String letters) {
    TestLoop first = start(ID);
    publish(first, first.open("engine", buffers), letters);
    return first;
  }

  private static void publish(TestLoop loop, long session, String letters) {
    loop.publishNow(
        session, "p", keys(letters), letters.chars().map(letter -> letter - 'a').toArray());
  }

  private static void expectBytes(TestLoop loop, long session, Reply.Ready ready, String letters) {
    LiveSession live = Objects.requireNonNull(loop.loop.decider().session(session));
    FakeBuffers pages = (FakeBuffers) Objects.requireNonNull(live.buffers).buffers();
    int[] targets = letters.chars().map(letter -> 100 + letter - 'a').toArray();
    TestLoop.Answers restored = loop.restore(session, ready.leaseId(), 0, targets);
    loop.drain();
    assertEquals(letters.length(), restored.last(Reply.Restored.class).blocks());
    for (int target : targets) {
      assertEquals(10 + target - 100, pages.read(0, target));
    }
    loop.release(session, ready.leaseId());
  }

  private void flip(TestLoop loop, String letter) {
    int slot = loop.state.findSlot(1, 0, keys(letter).packed(), 0, 4);
    long at = loop.state.extentOffset(slot, 0) + 70;
    pool.set(ValueLayout.JAVA_BYTE, at, (byte) ~pool.get(ValueLayout.JAVA_BYTE, at));
  }

  @Test
  void shouldServeWhatAnEarlierRunLeftOnceItIsVerified() {
    kill(ranWith("abcd"));
    TestLoop second = start(ID);
    assertEquals(
        "EpochStarted SessionClosed PoolOpened BlocksKept InstanceCleaned DigestRecorded",
        second.factNames());
    assertEquals(4, second.state.unverifiedBlocks());
    assertEquals(4L * Formats.EXTENT_BYTES, second.extents.usedBytes());
    second.drainCopies();
    assertEquals("BlocksAdopted", second.factNames());
    long session = second.open("engine", buffers());
    expectBytes(second, session, second.lease(session, "q", keys("abcd")), "abcd");
    assertEquals(4, second.state.totals().get(PoolCounter.ADOPTED_BLOCKS));
    assertEquals(4, second.loop.adoption().adoptedBlocks());
    assertEquals(0, second.loop.adoption().waitingBlocks());
    second.checkIdle();
    kill(second);
  }

  @Test
  void shouldNotServeBytesThatNobodyVerified() {
    kill(ranWith("abcd"));
    TestLoop second = start(ID);
    long session = second.open("engine", buffers());
    assertTrue(
        second.query(session, "now", QueryMode.LEASE, keys("abcd")).last() instanceof Reply.Missed);
    assertEquals(
        0,
        second
            .query(session, "d", QueryMode.DISCOVER, keys("abcd"))
            .last(Reply.Discovered.class)
            .boundaries()
            .size());
    TestLoop.Answers waits = second.query(session, "later", QueryMode.WAIT, keys("abcd"));
    assertTrue(waits.last() instanceof Reply.Loading, "it waits: " + waits.last());
    second.drainCopies();
    expectBytes(second, session, waits.last(Reply.Ready.class), "abcd");
    second.checkIdle();
    kill(second);
  }

  @Test
  void shouldMissAndReportADamagedBlock() {
    TestLoop first = ranWith("abcd");
    flip(first, "c");
    kill(first);
    TestLoop second = start(ID);
    long session = second.open("engine", buffers());
    TestLoop.Answers waits = second.query(session, "q", QueryMode.WAIT, keys("abcd"));
    second.factNames();
    second.drainCopies();
    assertEquals(
        "VerifyFailed BlocksAdopted BlocksNotAdopted LeaseGranted TicketClosed",
        second.factNames());
    expectBytes(second, session, waits.last(Reply.Ready.class), "ab");
    assertEquals(1, second.state.totals().adoptionsFailed(AdoptionFailure.CHECKSUM));
    assertEquals(3, second.state.liveBlocks());
    publish(second, session, "c");
    expectBytes(second, session, second.lease(session, "q2", keys("abcd")), "abcd");
    second.checkIdle();
    kill(second);
  }

  @Test
  void shouldDropBlocksThatLayInAnotherPool() {
    kill(ranWith("abcd"));
    TestLoop second = start(new PoolId(4, 4));
    assertEquals(0, second.state.liveBlocks());
    String names = second.factNames();
    assertTrue(names.contains("BlocksEvicted PoolOpened"), names);
    assertTrue(second.copies.running.isEmpty());
    publish(second, second.open("engine", buffers()), "xy");
    kill(second);
    TestLoop third = start(PoolId.NONE);
    names = third.factNames();
    assertTrue(names.contains("BlocksEvicted PoolOpened"), names);
    assertEquals(0, third.state.poolIdHigh());
    kill(third);
    TestLoop fourth = start(new PoolId(4, 4));
    assertEquals(0, fourth.state.liveBlocks());
    kill(fourth);
    assertEquals(0, start(PoolId.NONE).state.liveBlocks());
  }

  @Test
  void shouldNeverAdoptAPublishThatWasCutOff() {
    TestLoop first = ranWith("ab");
    long session = first.open("other", buffers());
    first.publish(session, "cut", 0, keys("cd"), 2, 3);
    assertEquals(1, first.copies.running.size());
    kill(first);
    TestLoop second = start(ID);
    assertEquals(2, second.state.liveBlocks());
    second.drainCopies();
    assertEquals(2, second.state.sealedBlocks());
    assertEquals(2L * Formats.EXTENT_BYTES, second.extents.usedBytes());
    kill(second);
  }

  @Test
  void shouldEvictInTheOrderOfLeasesOfTheRunBefore() {
    TestLoop first = ranWith("abcdefgh");
    long engine = first.open("other", buffers());
    first.release(engine, first.lease(engine, "q", keys("ab")).leaseId());
    kill(first);
    TestLoop second = start(ID);
    long session = second.open("engine", buffers());
    TestLoop.Answers waits = second.query(session, "q", QueryMode.WAIT, keys("c"));
    publish(second, session, "xyz");
    String text = second.facts();
    assertTrue(text.contains("BlocksEvicted[blocks=3..5"), text);
    second.drainCopies();
    assertTrue(waits.last() instanceof Reply.Missed, "what it waited for left: " + waits.last());
    expectBytes(second, session, second.lease(session, "q", keys("ab")), "ab");
    assertEquals(8, second.state.sealedBlocks());
    second.checkIdle();
    kill(second);
  }

  @Test
  void shouldKeepWhatWasNotVerifiedForTheRunAfter() {
    kill(ranWith("abcd"));
    TestLoop second = start(ID);
    long session = second.open("engine", buffers());
    assertEquals(
        Reply.PublishOutcome.ALREADY.code(),
        second
            .publish(session, "p", 0, keys("abcd"), 0, 1, 2, 3)
            .last(Reply.Published.class)
            .outcomes()[0]);
    kill(second);
    TestLoop third = start(ID);
    assertEquals(4, third.state.unverifiedBlocks());
    third.drainCopies();
    assertEquals(4, third.state.sealedBlocks());
    kill(third);
  }

  @Test
  void shouldGoOnOnceTheJournalHasRoom() {
    kill(ranWith("ab"));
    HostState state = fold();
    FakeLog log = new FakeLog(state.position());
    log.full = true;
    TestLoop second = TestLoop.persistent(config, state, clock, log, ssd, pool, ID);
    assertTrue(second.copies.running.isEmpty());
    log.full = false;
    clock.advanceMillis(100);
    second.step();
    second.drainCopies();
    assertEquals(2, second.state.sealedBlocks());
    kill(second);
  }

  @Test
  void shouldForgetALookAtWhatHasLeft() {
    TestLoop first = ranWith("ab");
    flip(first, "a");
    kill(first);
    TestLoop second = start(ID);
    second.send(new Command.Evict(new Command.EvictSelector.All(), new TestLoop.Answers()));
    second.step();
    assertEquals(0, second.state.liveBlocks());
    second.factNames();
    second.drainCopies();
    assertEquals("", second.factNames());
    assertEquals(0, second.extents.usedBytes());
    kill(second);
  }

  // ---- with an SSD tier
  // --------------------------------------------------------------------------------------------

  private void useSsd() {
    config = HostConfig.forPool(8L * SsdExtents.ALIGNMENT_BYTES).inlineCopyBytes(0).build();
    pool = offHeap(config);
    ssd = new FakeSsd(7, 1, 16);
  }

  @Test
  void shouldReadADamagedBlockFromSsd() {
    useSsd();
    TestLoop first = ranWith("abcd");
    flip(first, "b");
    kill(first);
    TestLoop second = start(ID);
    assertEquals(4, second.state.unverifiedBlocks());
    assertEquals(4, second.state.ssdExtents());
    long session = second.open("engine", buffers());
    assertEquals(
        4,
        second
            .query(session, "d", QueryMode.DISCOVER, keys("abcd"))
            .last(Reply.Discovered.class)
            .boundaries()
            .size());
    TestLoop.Answers waits = second.query(session, "q", QueryMode.WAIT, keys("abcd"));
    second.factNames();
    second.drain();
    assertEquals(
        "VerifyFailed BlocksAdopted BlocksNotAdopted BlocksLoading BlocksLoaded LeaseGranted"
            + " TicketClosed",
        second.factNames());
    expectBytes(second, session, waits.last(Reply.Ready.class), "abcd");
    second.checkIdle();
    kill(second);
  }

  @Test
  void shouldDemoteWhatIsNotVerifiedWhenRoomIsNeeded() {
    useSsd();
    kill(ranWith("abcdefgh"));
    TestLoop second = start(ID);
    long session = second.open("engine", buffers());
    second.facts();
    publish(second, session, "xy");
    assertTrue(second.facts().startsWith("BlocksDemoted[blocks=1..2"));
    assertEquals(2, second.state.ssdOnlyBlocks());
    second.drain();
    assertEquals(8, second.state.sealedBlocks());
    kill(second);
  }

  @Test
  void shouldNotKeepExtentsThatADiskCannotReadFrom() {
    config = HostConfig.forPool(8L * SsdExtents.ALIGNMENT_BYTES).inlineCopyBytes(0).build();
    pool = offHeap(config);
    kill(ranWith("abcd"));
    ssd = new FakeSsd(7, 1, 16);
    TestLoop second = start(ID);
    assertEquals(0, second.state.liveBlocks());
    assertFalse(second.facts().contains("BlocksKept"));
    kill(second);
  }

  @Test
  void shouldReserveNoExtentTwice() {
    kill(ranWith("abcdef"));
    TestLoop second = start(ID);
    publish(second, second.open("engine", buffers()), "xy");
    List<Long> offsets = new ArrayList<>();
    for (Fact fact : second.log.facts) {
      if (fact.event() instanceof SlicesReserved reserved) {
        for (int i = 0; i < reserved.extentOffsets().size(); i++) {
          offsets.add(reserved.extentOffsets().get(i));
        }
      }
    }
    assertEquals(List.of(6L * 512, 7L * 512), offsets.stream().sorted().toList());
    kill(second);
  }
}
