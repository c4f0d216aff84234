package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostState;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RestoreTest {
  private static final long BLOCK = Formats.EXTENT_BYTES;

  private final TestLoop loop =
      new TestLoop(
          TestLoop.config(4)
              .globalBudgetBytes(5 * BLOCK)
              .instanceBudgetBytes(3 * BLOCK)
              .leaseTtlMillis(10_000)
              .build());
  private final FakeBuffers pages =
      FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
  private final long session = loop.open("engine", pages);

  @BeforeEach
  void publish() {
    loop.publishNow(session, "p", keys("abc"));
  }

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  @Test
  void shouldRefuseRestoresThatDoNotFitTheLease() {
    long lease = loop.lease(session, "q", keys("ab")).leaseId();
    long before = loop.state.position();
    assertEquals(RefusalCode.RANGE_NOT_LEASED, loop.restore(session, lease, 8, 1).refusal());
    assertEquals(RefusalCode.RANGE_NOT_LEASED, loop.restore(session, lease, 4, 1, 2).refusal());
    assertEquals(RefusalCode.RANGE_NOT_LEASED, loop.restore(session, lease, -4, 1).refusal());
    assertEquals(RefusalCode.MISALIGNED, loop.restore(session, lease, 2, 1).refusal());
    assertEquals(
        RefusalCode.DUPLICATE_DESTINATION, loop.restore(session, lease, 0, 1, 1).refusal());
    assertEquals(
        RefusalCode.BLOCK_OUT_OF_RANGE, loop.restore(session, lease, 0, TestLoop.BLOCKS).refusal());
    assertEquals(RefusalCode.BAD_VALUE, loop.restore(session, lease, 0).refusal());
    assertEquals(before, loop.state.position());
    loop.restore(session, lease, 0, 1, 2);
    assertEquals(
        RefusalCode.DUPLICATE_DESTINATION,
        loop.restore(session, lease, 0, 2).refusal(),
        "another restore writes there");
    loop.drain();
    loop.restore(session, lease, 0, 2);
    loop.drain();
  }

  @Test
  void shouldRefuseALeaseThatIsOver() {
    long lease = loop.lease(session, "q", keys("a")).leaseId();
    loop.release(session, lease);
    assertEquals(RefusalCode.LEASE_GONE, loop.restore(session, lease, 0, 1).refusal());
    assertEquals(RefusalCode.LEASE_GONE, loop.restore(session, 999, 0, 1).refusal());
  }

  @Test
  void shouldExpireALeaseButNotUnderARunningRestore() {
    long lease = loop.lease(session, "q", keys("ab")).leaseId();
    TestLoop.Answers restore = loop.restore(session, lease, 0, 1, 2);
    loop.clock.advanceMillis(10_000);
    loop.step();
    assertEquals(0, loop.state.openLeases());
    assertEquals(2 * BLOCK, loop.status().budgetUsedBytes(), "the restore still reads");
    evictAll();
    assertEquals(2, loop.state.evictedBlocks());
    loop.drain();
    restore.last(Reply.Restored.class);
    assertEquals(0, loop.extents.usedBytes());
    loop.checkIdle();
  }

  private Reply.Evicted evictAll() {
    return loop.send(new Command.Evict(new Command.EvictSelector.All(), new TestLoop.Answers()))
        .last(Reply.Evicted.class);
  }

  @Test
  void shouldHideAnEvictedBlockAtOnceAndFreeItWithItsLastPin() {
    long lease = loop.lease(session, "q", keys("ab")).leaseId();
    assertEquals(new Reply.Evicted(3, BLOCK, 2 * BLOCK), evictAll());
    loop.query(session, "q", QueryMode.LEASE, keys("a")).last(Reply.Missed.class);
    assertEquals(2 * BLOCK, loop.extents.usedBytes());
    TestLoop.Answers restore = loop.restore(session, lease, 0, 7);
    loop.drain();
    restore.last(Reply.Restored.class);
    loop.publishNow(session, "p", keys("a"));
    loop.release(session, lease);
    assertEquals(BLOCK, loop.extents.usedBytes(), "only the new a is left");
  }

  @Test
  void shouldEvictByKeys() {
    TestLoop.Answers evicted =
        loop.send(
            new Command.Evict(
                new Command.EvictSelector.OfKeys("ns", 0, keys("bxb")), new TestLoop.Answers()));
    assertEquals(new Reply.Evicted(1, BLOCK, 0), evicted.last());
    assertEquals(4, loop.lease(session, "q", keys("abc")).boundaryToken());
  }

  @Test
  void shouldReportADamagedBlockAndDropIt() {
    loop.pool.set(ValueLayout.JAVA_BYTE, BLOCK + 3, (byte) 99);
    long lease = loop.lease(session, "q", keys("abc")).leaseId();
    loop.facts();
    TestLoop.Answers restore = loop.restore(session, lease, 0, 1, 2, 3);
    loop.drain();
    assertEquals(RefusalCode.VERIFY_FAILED, restore.last(Reply.Failed.class).code());
    assertEquals("RestoreStarted VerifyFailed BlocksEvicted RestoreFinished", loop.factNames());
    loop.release(session, lease);
    assertEquals(4, loop.lease(session, "q", keys("abc")).boundaryToken());
  }

  @Test
  void shouldCancelARestore() {
    long lease = loop.lease(session, "q", keys("a")).leaseId();
    TestLoop.Answers restore = loop.restore(session, lease, 0, 1);
    loop.send(
        new Command.Cancel(
            session, "c", new CancelTarget.AnsweredTo(restore), new TestLoop.Answers()));
    assertTrue(restore.replies.isEmpty(), "the copy has not drained");
    loop.drain();
    assertEquals(new Reply.Cancelled(false), restore.last());
    loop.release(session, lease);
    loop.checkIdle();
  }

  @Test
  void shouldReleaseTheLeaseWithTheRestore() {
    long lease = loop.lease(session, "q", keys("ab")).leaseId();
    TestLoop.Answers restore =
        loop.send(
            new Command.Restore(
                session,
                "r",
                lease,
                List.of(new GroupTarget(0, 0, new int[] {4, 5})),
                true,
                null,
                new TestLoop.Answers()));
    loop.drain();
    restore.last(Reply.Restored.class);
    loop.checkIdle();
  }

  @Test
  void shouldKeepTheBudgets() {
    long lease = loop.lease(session, "q", keys("abc")).leaseId();
    assertEquals(
        RefusalCode.BUDGET_INSTANCE,
        loop.query(session, "q", QueryMode.LEASE, keys("a")).refusal());
    long other = loop.open("other", FakeBuffers.of(1, Formats.LAYERS, 8, Formats.LAYER_BYTES));
    Reply.Refused refused =
        loop.query(other, "q", QueryMode.LEASE, keys("abc")).last(Reply.Refused.class);
    assertEquals(RefusalCode.BUDGET_GLOBAL, refused.code());
    assertTrue(refused.retryAfterMillis() > 0);
    loop.lease(other, "q", keys("ab"));
    loop.release(session, lease);
    loop.lease(session, "q", keys("abc"));
  }

  @Test
  void shouldRefuseWhenTheWorkersAreBehind() {
    TestLoop slow = new TestLoop(TestLoop.config(8).maxCopiesInFlight(1).build());
    long engine = slow.open("engine", FakeBuffers.of(1, 2, 8, Formats.LAYER_BYTES));
    slow.publish(engine, "p", 0, keys("a"));
    assertEquals(RefusalCode.QUEUE_FULL, slow.publish(engine, "p", 0, keys("b")).refusal());
    slow.drain();
    slow.publish(engine, "p", 0, keys("b"));
    slow.drain();
    slow.check(new HostState());
  }
}
