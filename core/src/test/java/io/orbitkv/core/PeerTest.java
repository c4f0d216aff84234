package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.TestLoop.Answers;
import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.PeerSettings;
import io.orbitkv.core.remote.RemoteCandidate;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.core.remote.RemoteTier;
import io.orbitkv.core.remote.WantedBlock;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostState;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.StateKey;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two hosts, A that has blocks on SSD and in memory and B that wants them, and a test between. */
class PeerTest {
  private static final PeerSettings SETTINGS =
      new PeerSettings(1 << 20, 1 << 19, 8, 100, 500, 1 << 20, 1 << 19, 4, 1_000, 200, 300);

  private final FakePeers portsOfA = new FakePeers("a", 1);
  private final FakePeers portsOfB = new FakePeers("b", 2);
  private final FakeSsd ssd = new FakeSsd(7, 2, 8);
  private final TestLoop a =
      TestLoop.withPeers(
          HostConfig.forPool(4L * SsdExtents.ALIGNMENT_BYTES)
              .inlineCopyBytes(0)
              .globalBudgetBytes(1 << 30)
              .instanceBudgetBytes(1 << 30)
              .build(),
          new HostState(),
          new FakeClock(),
          ssd,
          portsOfA.peers(SETTINGS));
  private final TestLoop b = loopOfB(SETTINGS);
  private final FakeBuffers pagesOfA = buffers();
  private final FakeBuffers pagesOfB = buffers();

  private TestLoop loopOfB(PeerSettings settings) {
    return TestLoop.withPeers(
        TestLoop.config(8).build(),
        new HostState(),
        new FakeClock(),
        null,
        portsOfB.peers(settings));
  }

  private static FakeBuffers buffers() {
    FakeBuffers buffers = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    buffers.realSums = true;
    return buffers;
  }

  @AfterEach
  void replayEqualsTheLiveState() {
    a.check(new HostState());
    b.check(new HostState());
  }

  /** A has the blocks of some letters; page i holds 10 + i. */
  private long publishOnA(String letters) {
    for (int page = 0; page < 32; page++) {
      pagesOfA.fill(0, page, 10 + page);
    }
    long session = a.open("engine", pagesOfA);
    a.publishNow(session, "p", keys(letters));
    a.facts();
    return session;
  }

  // ---- what the catalog and the network would do

  /** Answers the oldest lookup with what A has, as an inventory would say it. */
  private void answerLookup(UnaryOperator<RemoteCandidate> told) {
    RemoteLookup lookup = portsOfB.lookups.removeFirst();
    for (int key = 0; key < lookup.keys().size(); key++) {
      List<RemoteCandidate> found = new ArrayList<>();
      StateKey wanted = lookup.keys().get(key);
      byte[] hash = wanted.hash().toBytes();
      int slot = a.state.findSlot(1, wanted.group(), hash, 0, hash.length);
      if (slot >= 0 && a.state.sealed(slot)) {
        found.add(candidate(RemoteTier.DRAM, a.state.extentGeneration(slot, 0), told));
      } else if (slot >= 0 && a.state.onSsd(slot)) {
        found.add(candidate(RemoteTier.SSD, a.state.ssdGeneration(slot, 0), told));
      }
      lookup.found(key, found);
    }
    portsOfB.events.add(to -> to.found(lookup));
    b.step();
  }

  private RemoteCandidate candidate(
      RemoteTier tier, long generation, UnaryOperator<RemoteCandidate> told) {
    return told.apply(new RemoteCandidate(portsOfA.run, tier, generation));
  }

  private Answers authorize(PeerRun peer, RemoteRead read) {
    Answers answers = new Answers();
    a.commands.add(
        new Command.AuthorizeGrant(
            peer,
            read.owner().runtime(),
            read.format(),
            read.blocks().stream()
                .map(block -> new WantedBlock(block.key(), block.tier(), block.generation()))
                .toList(),
            900,
            answers));
    a.step();
    return answers;
  }

  /** Moves what was granted, with a byte changed if so wished. */
  private static void move(
      RemoteRead read, Reply.Granted granted, MemorySegment from, boolean lie) {
    read.granted(granted.admission().id());
    for (int block = 0; block < granted.blocks().size(); block++) {
      if (granted.blocks().get(block) instanceof BlockGrant.Given(List<BlockGrant.Slice> slices)) {
        long[] bytes = slices.stream().mapToLong(BlockGrant.Slice::bytes).toArray();
        long[] sums = slices.stream().mapToLong(BlockGrant.Slice::checksum).toArray();
        assertTrue(read.given(block, bytes, sums));
        for (int slice = 0; slice < slices.size(); slice++) {
          BlockGrant.Slice at = slices.get(slice);
          MemorySegment to = read.destination(block, slice);
          to.copyFrom(from.asSlice(at.poolOffset(), at.bytes()));
          if (lie) {
            to.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 3, (byte) 99);
          }
          read.verify(block, slice);
        }
      } else {
        read.failed(RemoteFailure.STALE, granted.blocks().get(block).toString());
      }
    }
  }

  private void end(RemoteRead read) {
    portsOfB.events.add(to -> to.ended(read));
    b.step();
  }

  /** The whole way of the oldest read. */
  private void fetch() {
    RemoteRead read = portsOfB.reads.removeFirst();
    Answers answers = authorize(portsOfB.run, read);
    a.drain();
    Reply.Granted granted = answers.last(Reply.Granted.class);
    move(read, granted, a.pool, false);
    release(granted.admission().id());
    end(read);
  }

  private Answers release(UUID grant) {
    return a.send(new Command.ReleaseGrant(portsOfB.run, grant, new Answers()));
  }

  private void drainA() {
    while (!portsOfA.revoked.isEmpty()) {
      portsOfA.drain(0);
    }
    a.step();
  }

  // ---- the way of a block

  @Test
  void shouldRestoreOnBWhatWasPublishedOnA() {
    publishOnA("abc");
    long session = b.open("engine", pagesOfB);
    b.facts();
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("abcx"));
    assertInstanceOf(Reply.Loading.class, query.last());
    answerLookup(told -> told);
    assertEquals("TicketOpened RemoteReadBegun", b.factNames());
    fetch();
    drainA();
    Reply.Ready ready = query.last(Reply.Ready.class);
    assertEquals(3 * Formats.PAGE, ready.boundaryToken());
    assertEquals("RemoteReadEnded LeaseGranted TicketClosed", b.factNames());
    assertEquals("GrantOpened GrantClosed", a.factNames());
    Answers restored = b.restore(session, ready.leaseId(), 0, 20, 21, 22);
    b.drain();
    assertEquals(3, restored.last(Reply.Restored.class).blocks());
    for (int i = 0; i < 3; i++) {
      assertEquals(10 + i, pagesOfB.read(0, 20 + i));
    }
    b.release(session, ready.leaseId());
    assertEquals(
        3 * Formats.PAGE,
        b.lease(session, "again", keys("abc")).boundaryToken(),
        "an ordinary block from here on");
    b.cleanup("engine", session);
    a.checkIdle();
    b.checkIdle();
  }

  @Test
  void shouldJoinWhatIsHereWithWhatIsThere() {
    publishOnA("bd");
    long session = b.open("engine", pagesOfB);
    b.publishNow(session, "p", keys("ac"));
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("abcd"));
    answerLookup(told -> told);
    assertEquals(2, portsOfB.reads.getFirst().blocks().size());
    fetch();
    assertEquals(4 * Formats.PAGE, query.last(Reply.Ready.class).boundaryToken());
  }

  @Test
  void shouldStageWhatTheOwnerHasOnSsdOnly() {
    long session = publishOnA("abcd");
    a.publishNow(session, "p", keys("efgh"), 4, 5, 6, 7);
    assertEquals(4, a.state.ssdOnlyBlocks());
    long own = b.open("engine", pagesOfB);
    Answers query = b.query(own, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    assertEquals(RemoteTier.SSD, portsOfB.reads.getFirst().blocks().getFirst().tier());
    RemoteRead read = portsOfB.reads.removeFirst();
    Answers answers = authorize(portsOfB.run, read);
    assertEquals(List.of(), answers.replies, "it waits for the disk");
    a.drain();
    Reply.Granted granted = answers.last(Reply.Granted.class);
    move(read, granted, a.pool, false);
    release(granted.admission().id());
    drainA();
    end(read);
    assertEquals(2 * Formats.PAGE, query.last(Reply.Ready.class).boundaryToken());
    a.checkIdle();
  }

  @Test
  void shouldShareOneReadAmongRequests() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers first = b.query(session, "q1", QueryMode.WAIT, keys("ab"));
    Answers second = b.query(session, "q2", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    answerLookup(told -> told);
    assertEquals(1, portsOfB.reads.size(), "one read for both");
    fetch();
    assertEquals(2 * Formats.PAGE, first.last(Reply.Ready.class).boundaryToken());
    assertEquals(2 * Formats.PAGE, second.last(Reply.Ready.class).boundaryToken());
  }

  @Test
  void shouldPrepareFromOthers() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers prepare = b.query(session, "q", QueryMode.PREPARE, keys("ab"));
    answerLookup(told -> told);
    fetch();
    assertEquals(2 * Formats.PAGE, prepare.last(Reply.Prepared.class).boundaryToken());
  }

  // ---- what goes wrong

  @Test
  void shouldMissWhenNobodyHasIt() {
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    query.last(Reply.Missed.class);
    b.checkIdle();
  }

  @Test
  void shouldAskNobodyWhileFencedOrWhenNobodyWaits() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    b.query(session, "q", QueryMode.LEASE, keys("ab")).last(Reply.Missed.class);
    portsOfB.open = false;
    b.query(session, "q", QueryMode.WAIT, keys("ab")).last(Reply.Missed.class);
    assertEquals(List.of(), portsOfB.lookups);
  }

  @Test
  void shouldRefuseStaleEvidenceOnceAndThenMiss() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> new RemoteCandidate(told.owner(), told.tier(), told.generation() + 7));
    RemoteRead read = portsOfB.reads.removeFirst();
    Reply.GrantRefused refused = authorize(portsOfB.run, read).last(Reply.GrantRefused.class);
    assertEquals(GrantRefusal.WRONG_GENERATION, refused.reason());
    read.failed(RemoteFailure.STALE, refused.message());
    end(read);
    query.last(Reply.Missed.class);
    assertEquals(List.of(), portsOfB.reads, "not asked again");
    a.checkIdle();
    b.checkIdle();
  }

  @Test
  void shouldRefuseAnotherRunAnotherFormatAndUnknownKeys() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.getFirst();
    List<WantedBlock> wanted =
        read.blocks().stream()
            .map(block -> new WantedBlock(block.key(), block.tier(), block.generation()))
            .toList();
    assertEquals(GrantRefusal.WRONG_RUNTIME, refusal(new UUID(8, 8), read.format(), wanted));
    assertEquals(GrantRefusal.FOREIGN_FORMAT, refusal(portsOfA.run.runtime(), "other/1", wanted));
    assertEquals(
        GrantRefusal.BAD_REQUEST, refusal(portsOfA.run.runtime(), read.format(), List.of()));
    assertEquals(
        GrantRefusal.BAD_REQUEST,
        refusal(
            portsOfA.run.runtime(), read.format(), List.of(wanted.getFirst(), wanted.getFirst())));
    a.send(new Command.Evict(new Command.EvictSelector.All(), new Answers()));
    assertEquals(GrantRefusal.UNKNOWN_KEY, refusal(portsOfA.run.runtime(), read.format(), wanted));
    assertEquals(
        GrantRefusal.UNKNOWN_GRANT,
        release(new UUID(1, 99)).last(Reply.GrantRefused.class).reason());
    read.failed(RemoteFailure.CANCELLED, "test");
    end(read);
    a.checkIdle();
  }

  private GrantRefusal refusal(UUID runtime, String format, List<WantedBlock> wanted) {
    return a.send(
            new Command.AuthorizeGrant(portsOfB.run, runtime, format, wanted, 900, new Answers()))
        .last(Reply.GrantRefused.class)
        .reason();
  }

  @Test
  void shouldSealNothingWithoutItsSum() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    move(read, authorize(portsOfB.run, read).last(Reply.Granted.class), a.pool, true);
    end(read);
    query.last(Reply.Missed.class);
    assertEquals(2, b.state.totals().fetchesFailed(RemoteFailure.CORRUPT));
    assertEquals(0, b.state.liveBlocks());
    b.checkIdle();
  }

  @Test
  void shouldQuarantineWhatMayStillCome() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    b.facts();
    b.clock.advanceMillis(501);
    b.step();
    query.last(Reply.Missed.class);
    assertTrue(read.stopped());
    assertEquals("RemoteReadQuarantined QueryMissed TicketClosed", b.factNames());
    assertEquals(2, b.state.extents(), "their memory stays as it is");
    // The engine computes the blocks meanwhile; nothing meets.
    b.publishNow(session, "p", keys("ab"));
    assertEquals(4, b.state.extents());
    move(read, authorize(portsOfB.run, read).last(Reply.Granted.class), a.pool, false);
    end(read);
    assertEquals(2, b.state.extents());
    assertEquals(2 * Formats.PAGE, b.lease(session, "l", keys("ab")).boundaryToken());
  }

  @Test
  void shouldTellOfAFailureThatIsNoEnd() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    read.failed(RemoteFailure.PEER_LOST, "the connection ended");
    portsOfB.events.add(to -> to.failed(read));
    b.step();
    query.last(Reply.Missed.class);
    assertEquals(1, b.state.remoteReads().size());
    end(read);
    assertEquals(2, b.state.totals().fetchesFailed(RemoteFailure.PEER_LOST));
    b.checkIdle();
  }

  @Test
  void shouldTryTheNextOwner() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    RemoteLookup lookup = portsOfB.lookups.getFirst();
    PeerRun dead = new PeerRun(new NodeId("c"), new UUID(9, 9), 1);
    answerLookup(told -> told);
    assertEquals(lookup.keys().size(), 2);
    RemoteRead read = portsOfB.reads.removeFirst();
    assertEquals(portsOfA.run, read.owner());
    for (int key = 0; key < 2; key++) {
      List<RemoteCandidate> both = new ArrayList<>(lookup.candidates(key));
      both.add(new RemoteCandidate(dead, RemoteTier.DRAM, 5));
      lookup.found(key, both);
    }
    read.failed(RemoteFailure.UNREACHABLE, "test");
    end(read);
    assertEquals(dead, portsOfB.reads.getFirst().owner());
    RemoteRead second = portsOfB.reads.removeFirst();
    second.failed(RemoteFailure.UNREACHABLE, "test");
    end(second);
    query.last(Reply.Missed.class);
    b.checkIdle();
  }

  @Test
  void shouldStopWhatNobodyWantsAnyMore() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    b.cancelTicket(
        session, query.replies.getFirst() instanceof Reply.Loading it ? it.ticketId() : 0);
    assertTrue(portsOfB.reads.getFirst().stopped());
    end(portsOfB.reads.removeFirst());
    assertEquals(2, b.state.totals().fetchesFailed(RemoteFailure.CANCELLED));
    b.checkIdle();
  }

  @Test
  void shouldForgetALateAnswer() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    Answers query = b.query(session, "q", QueryMode.WAIT, keys("ab"));
    b.cancelTicket(
        session, query.replies.getFirst() instanceof Reply.Loading it ? it.ticketId() : 0);
    answerLookup(told -> told);
    assertEquals(List.of(), portsOfB.reads);
    b.checkIdle();
  }

  @Test
  void shouldBoundWhatIsGrantedAndOpen() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    for (int grant = 0; grant < 4; grant++) {
      authorize(portsOfB.run, read).last(Reply.Granted.class);
    }
    assertEquals(
        GrantRefusal.TOO_MANY_GRANTS,
        authorize(portsOfB.run, read).last(Reply.GrantRefused.class).reason());
    a.send(new Command.Evict(new Command.EvictSelector.All(), new Answers()));
    assertEquals(2, a.state.evictedBlocks(), "granted blocks stay where they are");
    a.commands.add(new Command.PeerGone(portsOfB.run.node(), null));
    a.step();
    assertEquals(4, a.state.openGrants(), "until the proof");
    drainA();
    assertEquals(4, a.state.totals().grantsClosed(GrantEnd.PEER_GONE));
    assertEquals(0, a.state.evictedBlocks());
    read.failed(RemoteFailure.CANCELLED, "test");
    end(read);
    a.checkIdle();
  }

  @Test
  void shouldRevokeWhatExpiredAndWaitForItsDrain() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    authorize(portsOfB.run, read).last(Reply.Granted.class);
    a.clock.advanceMillis(901);
    a.step();
    assertEquals(1, portsOfA.revoked.size());
    assertEquals(1, a.state.openGrants());
    drainA();
    assertEquals(1, a.state.totals().grantsClosed(GrantEnd.EXPIRED));
    read.failed(RemoteFailure.CANCELLED, "test");
    end(read);
    a.checkIdle();
  }

  @Test
  void shouldEndAnEpochInOrderAndAbandonAfterACrash() {
    publishOnA("ab");
    long session = b.open("engine", pagesOfB);
    b.query(session, "q", QueryMode.WAIT, keys("ab"));
    answerLookup(told -> told);
    RemoteRead read = portsOfB.reads.removeFirst();
    authorize(portsOfB.run, read).last(Reply.Granted.class);
    Answers stopped = a.send(new Command.Shutdown("test", new Answers()));
    assertEquals(List.of(), stopped.replies, "a grant drains");
    assertEquals(
        GrantRefusal.DRAINING,
        authorize(portsOfB.run, read).last(Reply.GrantRefused.class).reason());
    drainA();
    stopped.last(Reply.ShutDown.class);
    assertEquals(1, a.state.totals().grantsClosed(GrantEnd.SHUTDOWN));
    HostState crashed = new HostState();
    b.log.facts.forEach(fact -> crashed.apply(fact, io.orbitkv.state.Effects.NONE));
    assertEquals(1, crashed.openRemoteReads());
    TestLoop next =
        TestLoop.withPeers(
            TestLoop.config(8).build(),
            crashed,
            b.clock,
            null,
            new FakePeers("b", 3).peers(SETTINGS));
    assertEquals(0, next.state.openRemoteReads());
    assertEquals(2, next.state.totals().fetchesFailed(RemoteFailure.RESTART));
    next.checkIdle();
  }

  @Test
  void shouldWriteDownWherePlacementsAreSeen() {
    a.step();
    a.facts();
    a.commands.add(new Command.NotePlacement(3, 2, List.of("host-a", "host-b")));
    a.step();
    assertEquals(
        "PlacementSeen[catalogShard=3, generation=2, members=[host-a, host-b]]\n", a.facts());
  }

  @Test
  void shouldRefuseAPeerWhereNobodyIsAPeer() {
    TestLoop alone = new TestLoop(TestLoop.config(8).build());
    Answers answers =
        alone.send(new Command.ReleaseGrant(portsOfB.run, new UUID(1, 1), new Answers()));
    assertEquals(GrantRefusal.ALONE, answers.last(Reply.GrantRefused.class).reason());
  }
}
