package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.SsdCounter;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pool of four blocks above a tier of eight. */
class TierTest {
  private static final SsdSettings SETTINGS =
      new SsdSettings(SsdAdmission.ALL, 1 << 20, 1 << 20, 100, 1_000);

  private final FakeSsd ssd = new FakeSsd(7, 2, 4);
  private final TestLoop loop = loop(SETTINGS);
  private final FakeBuffers buffers =
      FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);

  private TestLoop loop(SsdSettings settings) {
    return TestLoop.withSsd(config(), settings, ssd, new HostState(), new FakeClock());
  }

  private static HostConfig config() {
    return HostConfig.forPool(4L * SsdExtents.ALIGNMENT_BYTES)
        .inlineCopyBytes(0)
        .globalBudgetBytes(1 << 30)
        .instanceBudgetBytes(1 << 30)
        .build();
  }

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  private long open() {
    for (int page = 0; page < 32; page++) {
      buffers.fill(0, page, 10 + page);
    }
    return loop.open("engine", buffers);
  }

  @Test
  void shouldWriteThroughDemoteAndComeBack() {
    long session = open();
    loop.facts();
    loop.publishNow(session, "p", keys("abcd"));
    assertEquals("SlicesReserved SlicesPublished SsdWritten", loop.factNames());
    loop.publishNow(session, "p", keys("ef"), 4, 5);
    assertEquals("BlocksDemoted SlicesReserved SlicesPublished SsdWritten", loop.factNames());
    TestLoop.Answers query = loop.query(session, "q", QueryMode.WAIT, keys("abcdx"));
    assertTrue(query.last() instanceof Reply.Loading, "two are on SSD only: " + query.last());
    assertEquals("BlocksDemoted TicketOpened BlocksLoading", loop.factNames());
    loop.drain();
    Reply.Ready ready = query.last(Reply.Ready.class);
    assertEquals(16, ready.boundaryToken());
    assertEquals("BlocksLoaded LeaseGranted TicketClosed", loop.factNames());
    TestLoop.Answers restored = loop.restore(session, ready.leaseId(), 0, 20, 21, 22, 23);
    loop.drain();
    assertEquals(4, restored.last(Reply.Restored.class).blocks());
    for (int i = 0; i < 4; i++) {
      assertEquals(10 + i, buffers.read(0, 20 + i));
    }
    loop.release(session, ready.leaseId());
    loop.checkIdle();
    assertEquals(2, loop.state.totals().get(SsdCounter.LOADED_BLOCKS));
  }

  @Test
  void shouldFindBlocksOnSsdWithoutALease() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    Reply.Discovered found =
        loop.query(session, "d", QueryMode.DISCOVER, keys("abcd")).last(Reply.Discovered.class);
    assertEquals(4, found.boundaries().size());
    assertEquals(4, found.foundBlocks()[0]);
    assertEquals(4, loop.state.ssdOnlyBlocks());
  }

  @Test
  void shouldEvictFromSsdWhatWasUsedLeastLately() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    long lease = drained(loop.query(session, "q", QueryMode.WAIT, keys("ab"))).leaseId();
    loop.release(session, lease);
    loop.facts();
    loop.publishNow(session, "p", keys("ijk"), 8, 9, 10);
    assertTrue(loop.facts().contains("SsdEvicted[blocks=3..5"), "c, d and e go, not a and b");
    assertEquals(
        0,
        loop.query(session, "d", QueryMode.DISCOVER, keys("c"))
            .last(Reply.Discovered.class)
            .boundaries()
            .size());
    loop.checkIdle();
  }

  private Reply.Ready drained(TestLoop.Answers answers) {
    loop.drain();
    return answers.last(Reply.Ready.class);
  }

  @Test
  void shouldShareOneReadAmongTickets() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    TestLoop.Answers one = loop.query(session, "one", QueryMode.WAIT, keys("ab"));
    TestLoop.Answers two = loop.query(session, "two", QueryMode.WAIT, keys("ab"));
    assertEquals(1, ssd.running.size());
    long reads = ssd.reads;
    loop.drain();
    assertEquals(2, ssd.reads - reads);
    assertEquals(8, one.last(Reply.Ready.class).boundaryToken());
    assertEquals(8, two.last(Reply.Ready.class).boundaryToken());
    loop.release(session, one.last(Reply.Ready.class).leaseId());
    loop.release(session, two.last(Reply.Ready.class).leaseId());
    loop.checkIdle();
  }

  @Test
  void shouldFindTheSameTicketAgainAndRefuseAnother() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    long ticket =
        loop.query(session, "q", QueryMode.WAIT, keys("ab")).last(Reply.Loading.class).ticketId();
    assertEquals(
        ticket,
        loop.query(session, "q", QueryMode.WAIT, keys("ab")).last(Reply.Loading.class).ticketId());
    assertEquals(
        RefusalCode.TICKET_PENDING, loop.query(session, "q", QueryMode.WAIT, keys("a")).refusal());
    loop.cancelTicket(session, ticket);
    loop.drain();
    loop.checkIdle();
  }

  private TestLoop.Answers prepare(long session, String request, String letters) {
    return loop.query(session, request, QueryMode.PREPARE, keys(letters));
  }

  private long withAbcdOnSsdOnly() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    loop.facts();
    return session;
  }

  @Test
  void shouldPrepareWhatIsOnSsd() {
    long session = withAbcdOnSsdOnly();
    TestLoop.Answers prepare = prepare(session, "q", "abcd");
    long ticket = prepare.last(Reply.Loading.class).ticketId();
    assertEquals(4L * 4096, loop.status().budgetUsedBytes());
    loop.drain();
    assertEquals(new Reply.Prepared(ticket, 16, false), prepare.last());
    assertEquals(
        "BlocksDemoted TicketOpened BlocksLoading BlocksLoaded TicketClosed", loop.factNames());
    loop.checkIdle();
    long lease = loop.lease(session, "q", keys("abcd")).leaseId();
    loop.release(session, lease);
    loop.checkIdle();
  }

  @Test
  void shouldNotBeginWhatNobodyWantsAnyMore() {
    long session = withAbcdOnSsdOnly();
    TestLoop.Answers prepare = prepare(session, "q", "abcd");
    loop.cancelTicket(session, prepare.last(Reply.Loading.class).ticketId());
    assertEquals(new Reply.Cancelled(false), prepare.last());
    assertTrue(ssd.running.getFirst().stopped());
    assertEquals(0, loop.status().budgetUsedBytes());
    long reads = ssd.reads;
    loop.drain();
    assertEquals(reads, ssd.reads);
    assertTrue(loop.facts().contains("reason=CANCELLED"), "they stay on SSD");
    assertEquals(8, loop.state.ssdOnlyBlocks());
    loop.checkIdle();
  }

  @Test
  void shouldReadOnWhatSomebodyElseWaitsFor() {
    long session = withAbcdOnSsdOnly();
    TestLoop.Answers prepare = prepare(session, "q", "abcd");
    TestLoop.Answers query = loop.query(session, "r", QueryMode.WAIT, keys("b"));
    query.last(Reply.Loading.class);
    loop.cancelTicket(session, prepare.last(Reply.Loading.class).ticketId());
    assertFalse(ssd.running.getFirst().stopped());
    loop.drain();
    loop.release(session, query.last(Reply.Ready.class).leaseId());
    loop.checkIdle();
  }

  @Test
  void shouldReadAgainWhatWasStoppedTooSoon() {
    long session = withAbcdOnSsdOnly();
    TestLoop.Answers prepare = prepare(session, "q", "abcd");
    loop.cancelTicket(session, prepare.last(Reply.Loading.class).ticketId());
    TestLoop.Answers query = loop.query(session, "r", QueryMode.WAIT, keys("abcd"));
    query.last(Reply.Loading.class);
    loop.drain();
    assertEquals(16, query.last(Reply.Ready.class).boundaryToken());
    loop.release(session, query.last(Reply.Ready.class).leaseId());
    loop.checkIdle();
  }

  @Test
  void shouldStopAPreparationAtItsDeadline() {
    long session = withAbcdOnSsdOnly();
    TestLoop.Answers prepare = prepare(session, "q", "abcd");
    loop.clock.advanceMillis(10_000);
    loop.step();
    assertTrue(prepare.last(Reply.Prepared.class).expired());
    assertTrue(ssd.running.getFirst().stopped());
    loop.drain();
    loop.checkIdle();
  }

  @Test
  void shouldBoundWhatIsBeingReadBack() {
    TestLoop narrow = loop(new SsdSettings(SsdAdmission.ALL, 1 << 20, 2L * 4096, 100, 1_000));
    long session = narrow.open("engine", buffers);
    narrow.publishNow(session, "p", keys("abcd"));
    narrow.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    TestLoop.Answers two = narrow.query(session, "q", QueryMode.PREPARE, keys("ab"));
    two.last(Reply.Loading.class);
    TestLoop.Answers third = narrow.query(session, "r", QueryMode.PREPARE, keys("c"));
    assertEquals(RefusalCode.QUEUE_FULL, third.refusal());
    narrow.query(session, "s", QueryMode.WAIT, keys("c")).last(Reply.Missed.class);
    narrow.drain();
    two.last(Reply.Prepared.class);
    TestLoop.Answers alone = narrow.query(session, "t", QueryMode.PREPARE, keys("abcd"));
    narrow.drain();
    assertEquals(16, alone.last(Reply.Prepared.class).boundaryToken());
    narrow.checkIdle();
    narrow.check(new HostState());
  }

  @Test
  void shouldMissWhatCameBackDamaged() {
    long session = open();
    for (int result : new int[] {SsdTask.CHECKSUM, SsdTask.SHORT, 5}) {
      loop.publishNow(session, "p", keys("abcd"));
      loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
      ssd.results.add(SsdTask.DONE);
      ssd.results.add(result);
      TestLoop.Answers query = loop.query(session, "q", QueryMode.WAIT, keys("abcd"));
      loop.drain();
      Reply.Ready ready = query.last(Reply.Ready.class);
      assertEquals(4, ready.boundaryToken(), "only the block before the damaged one");
      loop.release(session, ready.leaseId());
      loop.checkIdle();
      loop.send(new Command.Evict(new Command.EvictSelector.All(), new TestLoop.Answers()));
      loop.drain();
      assertEquals(0, loop.state.ssdExtents());
    }
    assertEquals(1, loop.state.totals().loadsFailed(LoadFailure.CHECKSUM));
    assertEquals(1, loop.state.totals().loadsFailed(LoadFailure.SHORT));
    assertEquals(1, loop.state.totals().loadsFailed(LoadFailure.IO_ERROR));
  }

  @Test
  void shouldAnswerFromDramWhileTheDiskHangs() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("ef"), 4, 5);
    TestLoop.Answers stuck = loop.query(session, "q", QueryMode.WAIT, keys("ab"));
    loop.clock.advanceMillis(101);
    loop.step();
    assertTrue(loop.facts().contains("TierDegraded[trouble=HANGS"), "said");
    assertEquals(1, ssd.report.problems().size());
    loop.query(session, "r", QueryMode.WAIT, keys("ab")).last(Reply.Missed.class);
    loop.clock.advanceMillis(20_000);
    loop.step();
    assertTrue(stuck.last(Reply.Missed.class).expired(), "the ticket had its time");
    loop.drain();
    assertTrue(loop.facts().contains("TierRecovered[trouble=HANGS]"), "said");
    assertEquals(List.of(), ssd.report.problems());
    loop.checkIdle();
    long lease = drained(loop.query(session, "s", QueryMode.WAIT, keys("ab"))).leaseId();
    loop.release(session, lease);
    loop.checkIdle();
  }

  @Test
  void shouldEvictNothingAfterTheEndWhenAHangingDiskEndsTheDrain() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publish(session, "p", 0, keys("ef"), 4, 5);
    loop.copies.finishAll();
    loop.step();
    assertFalse(ssd.running.isEmpty(), "the disk has something to do");
    TestLoop.Answers end = loop.send(new Command.Shutdown("test", new TestLoop.Answers()));
    assertEquals(List.of(), end.replies, "it waits for the disk");
    loop.clock.advanceMillis(101);
    TestLoop.Answers evicted =
        loop.send(
            new Command.Evict(new Command.EvictSelector.OfNamespace("ns"), new TestLoop.Answers()));
    end.last(Reply.ShutDown.class);
    assertEquals(RefusalCode.DRAINING, evicted.refusal());
  }

  @Test
  void shouldNotTakeTheEndOfAReadThatNeverBeganForASignOfLife() {
    long session = withAbcdOnSsdOnly();
    loop.query(session, "q", QueryMode.WAIT, keys("a")).last(Reply.Loading.class);
    TestLoop.Answers prepare = prepare(session, "r", "b");
    long unwanted = prepare.last(Reply.Loading.class).ticketId();
    loop.clock.advanceMillis(101);
    loop.step();
    assertTrue(loop.facts().contains("TierDegraded[trouble=HANGS"), "said");
    loop.cancelTicket(session, unwanted);
    ssd.finish(1, loop.pool);
    loop.step();
    assertFalse(loop.facts().contains("TierRecovered"), "it hangs on");
    loop.query(session, "s", QueryMode.WAIT, keys("c")).last(Reply.Missed.class);
    loop.drain();
    assertTrue(loop.facts().contains("TierRecovered[trouble=HANGS]"), "said");
    loop.query(session, "s", QueryMode.WAIT, keys("c")).last(Reply.Loading.class);
  }

  @Test
  void shouldStopWritingToAFullDiskAndTryAgain() {
    long session = open();
    ssd.otherwise = 28;
    loop.publishNow(session, "p", keys("a"));
    assertTrue(loop.facts().contains("TierDegraded[trouble=DISK_FULL"), "said");
    loop.publishNow(session, "p", keys("b"), 1);
    assertEquals(0, ssd.running.size());
    ssd.otherwise = 0;
    loop.clock.advanceMillis(1_001);
    loop.publishNow(session, "p", keys("c"), 2);
    assertTrue(loop.facts().contains("TierRecovered[trouble=DISK_FULL]"), "said");
    assertEquals(3, loop.state.ssdExtents(), "those that waited are written too");
    assertEquals(0, tier(loop).skippedBlocks);
    loop.checkIdle();
  }

  @Test
  void shouldTryWithOneBlockWhetherAFullDiskHasRoomAgain() {
    long session = open();
    ssd.otherwise = 28;
    loop.publishNow(session, "p", keys("a"));
    loop.publishNow(session, "p", keys("bcd"), 1, 2, 3);
    for (int i = 0; i < 3; i++) {
      loop.clock.advanceMillis(1_001);
      loop.step();
      assertEquals(1, ssd.running.size());
      assertEquals(1, ssd.running.getFirst().blocks());
      loop.drain();
    }
    assertEquals(4, tier(loop).aside.size());
    ssd.otherwise = 0;
    loop.clock.advanceMillis(1_001);
    loop.step();
    loop.drain();
    assertEquals(4, loop.state.ssdExtents());
    assertEquals(0, tier(loop).aside.size());
    loop.checkIdle();
  }

  @Test
  void shouldWriteAgainLaterWhatFailedOnce() {
    long session = open();
    ssd.results.add(5);
    loop.publishNow(session, "p", keys("ab"));
    assertEquals(1, loop.state.ssdExtents());
    loop.clock.advanceMillis(1_001);
    loop.step();
    loop.drain();
    assertEquals(2, loop.state.ssdExtents());
    assertEquals(0, tier(loop).skippedBlocks);
    loop.checkIdle();
  }

  @Test
  void shouldDropNoCopyForBlocksThatAnIllDiskCannotTake() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    ssd.otherwise = 28;
    loop.publishNow(session, "p", keys("i"), 8);
    loop.facts();
    loop.publishNow(session, "p", keys("jkl"), 9, 10, 11);
    assertEquals("BlocksDemoted SlicesReserved SlicesPublished", loop.factNames());
    loop.publishNow(session, "p", keys("mnop"), 12, 13, 14, 15);
    assertTrue(loop.facts().contains("reason=DISK_ILL]"), "said");
    assertEquals(7, loop.state.ssdExtents(), "one made room for the write that failed");
    loop.checkIdle();
  }

  @Test
  void shouldKeepServingWhenEveryThirdWriteFails() {
    long session = open();
    for (int i = 0; i < 8; i++) {
      ssd.results.add(i % 3 == 2 ? 5 : 0);
    }
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    assertFalse(loop.facts().contains("TierDegraded"), "single failures are no trouble");
    assertEquals(6, loop.state.ssdExtents());
    loop.checkIdle();
  }

  @Test
  void shouldNotReuseMemoryThatTheDiskStillReads() {
    long session = open();
    loop.publish(session, "p", 0, keys("abcd"));
    loop.drainCopies();
    assertEquals(1, ssd.running.size());
    loop.send(new Command.Evict(new Command.EvictSelector.All(), new TestLoop.Answers()));
    assertEquals(0, loop.state.extents());
    assertEquals(4, loop.extents.usedExtents(), "the disk reads them");
    loop.finishSsd(0);
    assertEquals(0, loop.extents.usedExtents());
    assertEquals(0, loop.state.ssdExtents(), "nobody can find what was written");
    loop.checkIdle();
  }

  @Test
  void shouldDropWhatIsEvictedWhileItIsRead() {
    long session = open();
    loop.publishNow(session, "p", keys("abcd"));
    loop.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    TestLoop.Answers query = loop.query(session, "q", QueryMode.WAIT, keys("ab"));
    loop.send(new Command.Evict(new Command.EvictSelector.All(), new TestLoop.Answers()));
    loop.drain();
    query.last(Reply.Missed.class);
    assertEquals(0, loop.state.extents());
    assertEquals(0, loop.state.ssdExtents());
    loop.checkIdle();
  }

  @Test
  void shouldAdmitAtTheFirstHitIfToldSo() {
    TestLoop reuse = loop(new SsdSettings(SsdAdmission.REUSE, 1 << 20, 1 << 20, 100, 1_000));
    long session = reuse.open("engine", buffers);
    reuse.publishNow(session, "p", keys("abcd"));
    assertEquals(0, reuse.state.ssdExtents());
    long lease = reuse.lease(session, "q", keys("ab")).leaseId();
    reuse.drain();
    assertEquals(2, reuse.state.ssdExtents());
    reuse.release(session, lease);
    reuse.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    assertTrue(reuse.facts().contains("SsdSkipped[blocks=3..4, reason=NOT_REUSED]"), "said");
    reuse.check(new HostState());
  }

  private static LiveTier tier(TestLoop loop) {
    return Objects.requireNonNull(loop.loop.decider().host().tier);
  }

  @Test
  void shouldWriteInOrderWhatDoesNotFitTheWriteQueue() {
    TestLoop narrow = loop(new SsdSettings(SsdAdmission.ALL, 2L * 4096, 1 << 20, 100, 1_000));
    long session = narrow.open("engine", buffers);
    narrow.publish(session, "p", 0, keys("abcd"));
    narrow.drainCopies();
    assertEquals(2 * 4096, tier(narrow).queuedBytes);
    assertEquals(2, tier(narrow).backlog.size());
    narrow.finishSsd(0);
    narrow.finishSsd(0);
    narrow.facts();
    narrow.drain();
    assertEquals(
        """
        SsdWritten[blocks=3, files=[0], offsets=[8192], generations=[3]]
        SsdWritten[blocks=4, files=[1], offsets=[8192], generations=[4]]
        """,
        narrow.facts());
    assertEquals(4, narrow.state.ssdExtents());
    assertEquals(0, tier(narrow).skippedBlocks);
    narrow.checkIdle();
    narrow.check(new HostState());
  }

  @Test
  void shouldCountWhatLeavesMemoryBeforeItsTurn() {
    TestLoop narrow = loop(new SsdSettings(SsdAdmission.ALL, 4096, 1 << 20, 100, 1_000));
    long session = narrow.open("engine", buffers);
    narrow.publish(session, "p", 0, keys("abcd"));
    narrow.drainCopies();
    narrow.publish(session, "p", 0, keys("ef"));
    narrow.drainCopies();
    assertEquals(2, tier(narrow).skippedBlocks, "b and c: the disk reads a");
    assertTrue(narrow.facts().contains("SsdSkipped[blocks=2..3, reason=QUEUE_FULL]"), "said");
    assertEquals(3, tier(narrow).backlog.size(), "d, e and f");
    narrow.drain();
    assertEquals(4, narrow.state.ssdExtents());
    narrow.checkIdle();
    narrow.check(new HostState());
  }

  @Test
  void shouldLetWhatWaitsLeaveTheTiersOrderOfUse() {
    TestLoop narrow =
        TestLoop.withSsd(
            config(),
            new SsdSettings(SsdAdmission.ALL, 4096, 1 << 20, 100, 1_000),
            new FakeSsd(7, 1, 2),
            new HostState(),
            new FakeClock());
    long session = narrow.open("engine", buffers);
    narrow.publishNow(session, "p", keys("abcd"));
    assertEquals(2, narrow.state.ssdExtents(), "the tier has room for two");
    assertEquals(2, tier(narrow).skippedBlocks, "a and b left it for c and d");
    assertTrue(narrow.facts().contains("SsdSkipped[blocks=1..2, reason=TIER_FULL]"), "said");
    assertEquals(0, tier(narrow).backlog.size());
    narrow.checkIdle();
    narrow.check(new HostState());
  }

  @Test
  void shouldWaitForAPlaceAmongTheStoresTasks() {
    ssd.limit = 1;
    long session = open();
    loop.publish(session, "p", 0, keys("a"));
    loop.publish(session, "p", 0, keys("b"));
    loop.drainCopies();
    assertEquals(1, ssd.running.size());
    assertEquals(1, tier(loop).backlog.size());
    loop.drain();
    assertEquals(2, loop.state.ssdExtents());
    assertEquals(0, tier(loop).skippedBlocks);
    loop.checkIdle();
  }
}
