package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostEvent.RegistrationRefused;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import io.orbitkv.state.identity.StateFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionTest {
  private static final StateFormat FORMAT = Formats.of(Formats.prefix(0));

  private final TestLoop loop =
      new TestLoop(
          TestLoop.config(16).registerWaitMillis(1_000).maxWaitingRegistrations(2).build());
  private final FakeBuffers pages = pages();

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  private static FakeBuffers pages() {
    return FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
  }

  private TestLoop.Answers register(FakeBuffers buffers) {
    return loop.register("engine", "ns", FORMAT, 0, 1, SessionRole.LOAD, buffers);
  }

  @Test
  void shouldBindRegisterOpenAndUndoAllOfIt() {
    long session = loop.open("engine", pages);
    loop.close(session, SessionEnd.UNREGISTERED).last(Reply.SessionClosed.class);
    assertTrue(pages.closed);
    assertEquals(
        "EpochStarted DigestRecorded NamespaceBound InstanceRegistered SessionOpened SessionClosed"
            + " InstanceCleaned NamespaceUnbound",
        loop.factNames());
    assertEquals(List.of("1 UNREGISTERED"), loop.closedSessions);
  }

  @Test
  void shouldDrainBeforeASessionIsClosed() {
    long session = loop.open("engine", pages);
    loop.publishNow(session, "p", keys("ab"));
    Reply.Ready ready = loop.lease(session, "q", keys("ab"));
    loop.restore(session, ready.leaseId(), 0, 5);
    loop.publish(session, "p", 0, keys("c"));
    loop.facts();
    TestLoop.Answers closed = loop.close(session, SessionEnd.DISCONNECTED);
    assertEquals("LeaseReleased", loop.factNames());
    assertTrue(closed.replies.isEmpty());
    assertEquals(RefusalCode.SESSION, loop.publish(session, "p", 0, keys("d")).refusal());
    loop.copies.finish(0);
    loop.step();
    assertFalse(pages.closed, "a copy still reads the pages");
    loop.drain();
    assertTrue(pages.closed);
    closed.last(Reply.SessionClosed.class);
    assertEquals(
        "RequestRefused RestoreFinished PublishAborted SessionClosed InstanceCleaned",
        loop.factNames());
    loop.checkIdle();
    assertEquals(2, loop.state.liveBlocks(), "blocks belong to the namespace");
  }

  @Test
  void shouldSupersedeOnlyAfterThePredecessorHasDrained() {
    long old = loop.open("engine", pages);
    loop.publish(old, "p", 0, keys("a"));
    FakeBuffers newPages = pages();
    loop.facts();
    TestLoop.Answers registered = register(newPages);
    assertTrue(registered.replies.isEmpty());
    assertEquals(RefusalCode.SESSION_SUPERSEDED, loop.publish(old, "p", 0, keys("b")).refusal());
    loop.drain();
    Reply.Registered opened = registered.last(Reply.Registered.class);
    assertEquals(old, opened.supersededSessionId());
    assertEquals("RequestRefused SlicesPublished SessionOpened SessionClosed", loop.factNames());
    assertTrue(pages.closed);
    assertFalse(newPages.closed);
    assertEquals(List.of(old + " SUPERSEDED"), loop.closedSessions);
    assertEquals(RefusalCode.SESSION_SUPERSEDED, loop.cleanup("engine", old).refusal());
    loop.close(old, SessionEnd.DISCONNECTED).last(Reply.SessionClosed.class);
    loop.lease(opened.sessionId(), "q", keys("a"));
  }

  @Test
  void shouldSupersedeAtOnceWhatIsIdle() {
    long old = loop.open("engine", pages);
    long fresh = register(pages()).last(Reply.Registered.class).sessionId();
    assertEquals(RefusalCode.SESSION, loop.query(old, "q", QueryMode.LEASE, keys("a")).refusal());
    loop.query(fresh, "q", QueryMode.LEASE, keys("a")).last(Reply.Missed.class);
  }

  @Test
  void shouldGiveUpWaitingForAPredecessor() {
    long old = loop.open("engine", pages);
    loop.publish(old, "p", 0, keys("a"));
    FakeBuffers second = pages();
    FakeBuffers fourth = pages();
    TestLoop.Answers waiting = register(second);
    register(pages());
    assertEquals(RefusalCode.PREDECESSOR_DRAINING, register(fourth).refusal(), "the line is full");
    assertTrue(fourth.closed);
    loop.clock.advanceMillis(1_000);
    loop.step();
    assertEquals(RefusalCode.PREDECESSOR_DRAINING, waiting.refusal());
    assertTrue(second.closed);
    loop.drain();
    assertEquals(0, loop.state.sessions().size());
  }

  @Test
  void shouldLetTheLastOfSeveralSuccessorsWin() {
    long old = loop.open("engine", pages);
    loop.publish(old, "p", 0, keys("a"));
    TestLoop.Answers second = register(pages());
    TestLoop.Answers third = register(pages());
    loop.drain();
    assertEquals(old, second.last(Reply.Registered.class).supersededSessionId());
    assertEquals(
        second.last(Reply.Registered.class).sessionId(),
        third.last(Reply.Registered.class).supersededSessionId());
    assertEquals(1, loop.state.sessions().size());
  }

  @Test
  void shouldCleanUpDrainUnmapAndThenRegisterAnew() {
    long session = loop.open("engine", pages);
    loop.publishNow(session, "p", keys("ab"));
    Reply.Ready ready = loop.lease(session, "q", keys("ab"));
    TestLoop.Answers restore = loop.restore(session, ready.leaseId(), 0, 5, 6);
    loop.facts();
    TestLoop.Answers cleaned = loop.cleanup("engine", session);
    TestLoop.Answers registered = register(pages());
    assertTrue(cleaned.replies.isEmpty());
    assertTrue(registered.replies.isEmpty(), "registration waits for the cleanup");
    loop.drain();
    restore.last(Reply.Restored.class);
    assertEquals(new Reply.InstanceCleaned(1, 1, 1, 0), cleaned.last());
    assertEquals(
        "LeaseReleased RestoreFinished SessionClosed InstanceCleaned InstanceRegistered"
            + " SessionOpened",
        loop.factNames());
    loop.lease(registered.last(Reply.Registered.class).sessionId(), "q", keys("ab"));
  }

  @Test
  void shouldAnswerTheCleanupOfNobody() {
    assertEquals(new Reply.InstanceCleaned(0, 0, 0, 0), loop.cleanup("nobody", 0).last());
  }

  @Test
  void shouldEndAttachedSessionsWithTheirBase() {
    long load = loop.open("engine", pages);
    long save =
        loop.send(
                new Command.Register(
                    "engine",
                    "ns",
                    null,
                    0,
                    1,
                    SessionRole.SAVE,
                    7,
                    1000,
                    load,
                    null,
                    new TestLoop.Answers()))
            .last(Reply.Registered.class)
            .sessionId();
    TestLoop.Answers published = loop.publish(save, "p", 0, keys("a"));
    loop.close(load, SessionEnd.UNREGISTERED);
    assertFalse(pages.closed);
    loop.drain();
    published.last(Reply.Published.class);
    assertTrue(pages.closed);
    assertEquals(List.of(save + " UNREGISTERED", load + " UNREGISTERED"), loop.closedSessions);
  }

  @Test
  void shouldLetAnySessionOfTheInstanceUseALease() {
    long worker = loop.open("engine", pages);
    long scheduler =
        loop.register("engine", "ns", FORMAT, 0, 1, SessionRole.SAVE, null)
            .last(Reply.Registered.class)
            .sessionId();
    long stranger =
        loop.register("other", "ns", FORMAT, 0, 1, SessionRole.LOAD, pages())
            .last(Reply.Registered.class)
            .sessionId();
    loop.publishNow(worker, "p", keys("a"));
    long lease = loop.lease(scheduler, "q", keys("a")).leaseId();
    assertEquals(RefusalCode.LEASE_GONE, loop.restore(stranger, lease, 0, 1).refusal());
    assertFalse(loop.release(stranger, lease).last(Reply.Released.class).wasOpen());
    TestLoop.Answers restored = loop.restore(worker, lease, 0, 1);
    loop.close(scheduler, SessionEnd.DISCONNECTED);
    loop.drain();
    restored.last(Reply.Restored.class);
    loop.checkIdle();
  }

  @Test
  void shouldNameTheFieldThatDiffers() {
    loop.open("engine", pages);
    refusedField("dtype", Formats.of("fp8", Formats.prefix(0)), 1, pages());
    refusedField("groups[0].component", Formats.of(Formats.window(0, 8)), 1, pages());
    refusedField("shardCount", FORMAT, 2, pages());
    refusedField("layers", FORMAT, 1, FakeBuffers.of(1, 1, 8, 2 * Formats.LAYER_BYTES));
    FakeBuffers wrongSize = FakeBuffers.of(1, 2, 8, 32);
    Reply.Refused refused =
        loop.register("two", "ns", FORMAT, 0, 1, SessionRole.LOAD, wrongSize)
            .last(Reply.Refused.class);
    assertEquals(RefusalCode.BAD_VALUE, refused.code());
    assertEquals("groups[0].bytesPerBlock", refused.field());
    assertTrue(wrongSize.closed);
  }

  private void refusedField(String field, StateFormat format, int shards, FakeBuffers buffers) {
    Reply.Refused refused =
        loop.register("two", "ns", format, 0, shards, SessionRole.LOAD, buffers)
            .last(Reply.Refused.class);
    assertEquals(RefusalCode.FORMAT_MISMATCH, refused.code());
    assertEquals(field, refused.field());
    assertTrue(buffers.closed);
    RegistrationRefused fact = (RegistrationRefused) loop.log.facts.getLast().event();
    assertEquals(field, fact.field());
  }

  @Test
  void shouldKeepAFormatBoundWhileBlocksRemain() {
    long session = loop.open("engine", pages);
    loop.publishNow(session, "p", keys("a"));
    loop.close(session, SessionEnd.UNREGISTERED);
    refusedField("dtype", Formats.of("fp8", Formats.prefix(0)), 1, pages());
    loop.send(
        new Command.Evict(new Command.EvictSelector.OfNamespace("ns"), new TestLoop.Answers()));
    loop.register("two", "ns", Formats.of("fp8", Formats.prefix(0)), 0, 1, SessionRole.LOAD, null)
        .last(Reply.Registered.class);
  }

  @Test
  void shouldShutDownInOrder() {
    long session = loop.open("engine", pages);
    loop.publishNow(session, "p", keys("a"));
    loop.restore(session, loop.lease(session, "q", keys("a")).leaseId(), 0, 4);
    TestLoop.Answers shutdown = loop.send(new Command.Shutdown("stop", new TestLoop.Answers()));
    assertEquals(RefusalCode.DRAINING, register(pages()).refusal());
    assertTrue(shutdown.replies.isEmpty());
    loop.facts();
    loop.copies.finishAll();
    loop.step();
    assertEquals(
        "RestoreFinished SessionClosed InstanceCleaned DigestRecorded EpochEnded",
        loop.factNames());
    assertEquals(new Reply.ShutDown(loop.state.position()), shutdown.last());
    assertTrue(loop.loop.ended());
    assertTrue(pages.closed);
  }
}
