package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.QueryMissed;
import io.orbitkv.state.HostEvent.RequestRefused;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublishQueryTest {
  private final TestLoop loop = new TestLoop(TestLoop.config(8).build());
  private final FakeBuffers buffers =
      FakeBuffers.of(2, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  @Test
  void shouldTellTheStoryOfABlockInFacts() {
    long session = loop.open("engine", buffers);
    loop.facts();
    loop.publishNow(session, "p", keys("ab"), 5, 6);
    Reply.Ready ready = loop.lease(session, "q", keys("abc"));
    loop.restore(session, ready.leaseId(), 0, 8, 9);
    loop.drain();
    loop.release(session, ready.leaseId());
    assertEquals(
        """
        SlicesReserved[publishId=1, sessionId=1, request=p, groupId=0, shard=0, blocks=1..2, \
        firstNewBlockId=1, newKeys=2 keys of 4 bytes, extentOffsets=[0, 512], \
        extentGenerations=[1, 2], extentBytes=512]
        SlicesPublished[publishId=1, checksums=CHECKSUMS]
        LeaseGranted[leaseId=1, sessionId=1, request=q, ticketId=0, expiresAtMicros=601000000, \
        held=[GroupLease[groupId=0, startToken=0, blocks=1..2]], answers=[GroupAnswer[groupId=0, \
        askedBlocks=3, hitBlocks=2, missingKeys=1 keys of 4 bytes, missingKeysOmitted=0]]]
        RestoreStarted[restoreId=1, sessionId=1, leaseId=1, blocks=2, bytes=256]
        RestoreFinished[restoreId=1, outcome=DONE, bytes=256, durationMicros=0]
        LeaseReleased[leaseId=1, reason=RELEASED]
        """,
        loop.facts().replaceAll("checksums=\\[[^]]*]", "checksums=CHECKSUMS"));
  }

  @Test
  void shouldRestoreTheBytesThatWerePublished() {
    long session = loop.open("engine", buffers);
    buffers.fill(0, 3, 33);
    buffers.fill(0, 4, 44);
    TestLoop.Answers published = loop.publish(session, "p", 0, keys("ab"), 3, 4);
    assertTrue(published.replies.isEmpty(), "the pages are still being read");
    loop.drain();
    assertEquals(256, published.last(Reply.Published.class).bytes());
    buffers.fill(0, 3, 1);
    Reply.Ready ready = loop.lease(session, "q", keys("ab"));
    assertEquals(8, ready.boundaryToken());
    assertArrayEquals(new int[] {4, 8}, ready.boundaries().toArray());
    TestLoop.Answers restored = loop.restore(session, ready.leaseId(), 4, 7);
    loop.drain();
    assertEquals(1, restored.last(Reply.Restored.class).blocks());
    assertEquals(44, buffers.read(0, 7));
    assertTrue(loop.release(session, ready.leaseId()).last(Reply.Released.class).wasOpen());
    loop.checkIdle();
  }

  @Test
  void shouldAnswerEachBlockOfAPublish() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("a"));
    TestLoop.Answers first = loop.publish(session, "p", 0, keys("bc"));
    TestLoop.Answers second = loop.publish(session, "p", 0, keys("abdd"));
    loop.drain();
    assertArrayEquals(
        new byte[] {0, 0}, first.last(Reply.Published.class).outcomes(), "both stored");
    Reply.Published mixed = second.last(Reply.Published.class);
    assertArrayEquals(
        new byte[] {1, 2, 0, 1}, mixed.outcomes(), "already, elsewhere, stored, repeated");
    assertEquals(1, mixed.stored());
    assertNull(mixed.why());
    loop.checkIdle();
  }

  @Test
  void shouldHideABlockUntilItsBytesAreThere() {
    long session = loop.open("engine", buffers);
    loop.publish(session, "p", 0, keys("a"));
    loop.query(session, "q", QueryMode.LEASE, keys("a")).last(Reply.Missed.class);
    loop.drain();
    loop.lease(session, "q", keys("a"));
  }

  @Test
  void shouldForgetABlockWhoseCopyFailed() {
    long session = loop.open("engine", buffers);
    buffers.failure = new IllegalStateException("bus error");
    TestLoop.Answers failed = loop.publishNow(session, "p", keys("ab"));
    assertEquals(RefusalCode.COPY_FAILED, failed.last(Reply.Failed.class).code());
    assertEquals(0, loop.state.liveBlocks());
    assertEquals(0, loop.extents.usedBytes());
    buffers.failure = null;
    loop.publishNow(session, "p", keys("ab"));
    loop.lease(session, "q", keys("ab"));
  }

  @Test
  void shouldJournalTheFirstMissingKeysOnly() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("ac"));
    int[] many = TestLoop.upTo(100);
    loop.query(session, "q", QueryMode.LEASE, TestLoop.numbered(many));
    QueryMissed missed = (QueryMissed) loop.log.facts.getLast().event();
    GroupAnswer answer = missed.answers().getFirst();
    assertEquals(100, answer.askedBlocks());
    assertEquals(64, answer.missingKeys().size());
    assertEquals(36, answer.missingKeysOmitted());
    Reply.Ready ready = loop.lease(session, "q", keys("abc"));
    assertEquals(4, ready.boundaryToken());
  }

  @Test
  void shouldLeaseOnlyWhatTheBoundaryNeeds() {
    StateFormat format = Formats.of(Formats.prefix(0), Formats.window(1, 6));
    long session =
        loop.register("hybrid", "ns2", format, 0, 1, SessionRole.LOAD, buffers)
            .last(Reply.Registered.class)
            .sessionId();
    loop.publish(session, "p", 0, keys("abcd"));
    loop.publish(session, "p", 1, keys("cd"));
    loop.drain();
    Reply.Ready ready =
        loop.query(session, "q", QueryMode.LEASE, keys("abcd"), keys("abcd"))
            .last(Reply.Ready.class);
    assertEquals("[(0,0,16), (1,8,16)]", ready.ranges().toString());
    assertArrayEquals(new int[] {16}, ready.boundaries().toArray(), "12 would need page b");
    Reply.Discovered found =
        loop.query(session, "q", QueryMode.DISCOVER, keys("abcd"), keys("abcd"))
            .last(Reply.Discovered.class);
    assertArrayEquals(new int[] {16}, found.boundaries().toArray());
    assertEquals(1, loop.state.openLeases());
  }

  @Test
  void shouldCapTheBoundaryByTheLimit() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("abcd"));
    Reply.Ready ready =
        loop.send(loop.queryOf(session, "q", QueryMode.LEASE, 11, false, keys("abcd")))
            .last(Reply.Ready.class);
    assertEquals(8, ready.boundaryToken());
    assertArrayEquals(new int[] {4}, ready.foundBlocks());
  }

  @Test
  void shouldEvictTheColdestToMakeRoom() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("abcdefgh"));
    loop.release(session, loop.lease(session, "q", keys("ab")).leaseId());
    loop.publishNow(session, "p2", keys("xy"));
    loop.lease(session, "q", keys("ab"));
    loop.query(session, "q", QueryMode.LEASE, keys("c")).last(Reply.Missed.class);
    loop.query(session, "q", QueryMode.LEASE, keys("d")).last(Reply.Missed.class);
    loop.lease(session, "q", keys("efgh"));
    assertEquals(8, loop.state.liveBlocks());
  }

  @Test
  void shouldRefuseWhatDoesNotFitBesideLeasedBlocks() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("abcdefgh"));
    Reply.Ready ready = loop.lease(session, "q", keys("abcdef"));
    Reply.Published published =
        loop.publishNow(session, "p2", keys("vwxyz")).last(Reply.Published.class);
    assertArrayEquals(new byte[] {0, 0, 3, 3, 3}, published.outcomes());
    Reply.Refused why = published.why();
    assertEquals(RefusalCode.POOL_FULL, why == null ? null : why.code());
    assertTrue(
        loop.log.facts.stream().anyMatch(fact -> fact.event() instanceof RequestRefused),
        "the refusal is a fact");
    assertEquals(RefusalCode.POOL_FULL, refusedWhileAllArePinned(session));
    loop.release(session, ready.leaseId());
    loop.publishNow(session, "p3", keys("z"));
    loop.checkIdle();
  }

  private RefusalCode refusedWhileAllArePinned(long session) {
    long pin = loop.lease(session, "pin", keys("vw")).leaseId();
    RefusalCode code = loop.publishNow(session, "p4", keys("q")).refusal();
    loop.release(session, pin);
    return code;
  }

  @Test
  void shouldRefuseBadPublishesAndQueriesAndChangeNothing() {
    long session = loop.open("engine", buffers);
    long before = loop.state.position();
    assertEquals(
        RefusalCode.BLOCK_OUT_OF_RANGE,
        loop.publish(session, "p", 0, keys("a"), TestLoop.BLOCKS).refusal());
    assertEquals(
        RefusalCode.BLOCK_OUT_OF_RANGE, loop.publish(session, "p", 0, keys("a"), -1).refusal());
    assertEquals(RefusalCode.BAD_GROUP, loop.publish(session, "p", 7, keys("a"), 0).refusal());
    assertEquals(RefusalCode.BAD_VALUE, loop.publish(session, "p", 0, keys("ab"), 0).refusal());
    assertEquals(RefusalCode.BAD_VALUE, loop.publish(session, "p", 0, Keys.EMPTY).refusal());
    assertEquals(
        RefusalCode.BAD_GROUP,
        loop.query(session, "q", QueryMode.LEASE, keys("a"), keys("a")).refusal());
    assertEquals(
        RefusalCode.MISALIGNED,
        loop.send(
                new Command.Query(
                    session,
                    "q",
                    2,
                    0,
                    List.of(new Command.GroupKeys(0, keys("a"))),
                    QueryMode.LEASE,
                    0,
                    false,
                    new TestLoop.Answers()))
            .refusal());
    assertEquals(before, loop.state.position());
    assertEquals(RefusalCode.SESSION, loop.publish(99, "p", 0, keys("a")).refusal());
  }

  @Test
  void shouldKeepNamespacesApart() {
    long one = loop.open("engine", buffers);
    long two =
        loop.register("other", "ns-b", Formats.of(Formats.prefix(0)), 0, 1, SessionRole.LOAD, null)
            .last(Reply.Registered.class)
            .sessionId();
    loop.publishNow(one, "p", keys("a"));
    loop.query(two, "q", QueryMode.LEASE, keys("a")).last(Reply.Missed.class);
    assertEquals(RefusalCode.NO_BUFFERS, loop.publish(two, "p", 0, keys("a")).refusal());
  }

  @Test
  void shouldNotCallItARefusalWhenRoomInPiecesCostBlocks() {
    long session = loop.open("engine", buffers);
    loop.publishNow(session, "p", keys("abcdefgh"));
    for (String odd : List.of("b", "d", "f", "h")) {
      loop.lease(session, "q", keys(odd));
    }
    int layerBytes = 200;
    GroupSpec wide =
        new GroupSpec(
            0,
            StateComponent.ATTENTION_KV,
            Formats.PAGE,
            new RecoveryRule.Prefix(),
            false,
            (long) Formats.LAYERS * layerBytes);
    FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, layerBytes);
    long other =
        loop.register("other", "wide", Formats.of(wide), 0, 1, SessionRole.LOAD, pages)
            .last(Reply.Registered.class)
            .sessionId();
    Reply.Published published = loop.publish(other, "p", 0, keys("z")).last(Reply.Published.class);
    assertEquals(0, published.stored());
    assertEquals(1, published.refused());
    assertEquals(4, loop.state.sealedBlocks(), "the blocks that were not leased were evicted");
  }
}
