package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import org.junit.jupiter.api.Test;

class JournalRoomTest {
  private final TestLoop loop = new TestLoop(TestLoop.config(8).build());
  private final FakeBuffers pages =
      FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);

  @Test
  void shouldPromiseNothingWithoutRoomAndEndEverything() {
    long session = loop.open("engine", pages);
    loop.publishNow(session, "p", keys("ab"));
    long released = loop.lease(session, "q", keys("ab")).leaseId();
    long kept = loop.lease(session, "q", keys("ab")).leaseId();
    TestLoop.Answers restore = loop.restore(session, kept, 0, 4);
    TestLoop.Answers publish = loop.publish(session, "p", 0, keys("c"));
    loop.log.full = true;
    long before = loop.state.position();
    assertEquals(RefusalCode.JOURNAL_FULL, loop.publish(session, "p", 0, keys("d")).refusal());
    Reply.Refused query =
        loop.query(session, "q", QueryMode.LEASE, keys("a")).last(Reply.Refused.class);
    assertEquals(RefusalCode.JOURNAL_FULL, query.code());
    assertTrue(query.retryAfterMillis() > 0);
    assertEquals(RefusalCode.JOURNAL_FULL, loop.restore(session, kept, 4, 6).refusal());
    FakeBuffers late = FakeBuffers.of(1, Formats.LAYERS, 8, Formats.LAYER_BYTES);
    assertEquals(
        RefusalCode.JOURNAL_FULL,
        loop.register("late", "ns", Formats.of(Formats.prefix(0)), 0, 1, SessionRole.LOAD, late)
            .refusal());
    assertTrue(late.closed);
    assertEquals(before, loop.state.position(), "nothing was written");

    assertTrue(loop.release(session, released).last(Reply.Released.class).wasOpen());
    loop.drain();
    restore.last(Reply.Restored.class);
    publish.last(Reply.Published.class);
    loop.close(session, SessionEnd.DISCONNECTED).last(Reply.SessionClosed.class);
    loop.checkIdle();

    loop.log.full = false;
    long again = loop.open("engine", FakeBuffers.of(1, Formats.LAYERS, 8, Formats.LAYER_BYTES));
    loop.lease(again, "q", keys("abc"));
    loop.check(new HostState());
  }
}
