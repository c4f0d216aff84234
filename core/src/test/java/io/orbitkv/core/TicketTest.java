package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TicketTest {
  private final TestLoop loop =
      new TestLoop(TestLoop.config(16).maxTicketsPerSession(3).ticketMillis(1_000).build());
  private final FakeBuffers buffers =
      FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
  private final long session = loop.open("engine", buffers);

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  private TestLoop.Answers wait(String request, String letters) {
    return loop.query(session, request, QueryMode.WAIT, keys(letters));
  }

  @Test
  void shouldAnswerWhenTheLastAwaitedBlockIsSealed() {
    loop.publish(session, "p", 0, keys("ab"));
    loop.facts();
    TestLoop.Answers query = wait("q", "abc");
    long ticket = query.last(Reply.Loading.class).ticketId();
    assertEquals("TicketOpened[ticketId=1, sessionId=1, request=q, awaited=1..2]\n", loop.facts());
    loop.drain();
    Reply.Ready ready = query.last(Reply.Ready.class);
    assertEquals(ticket, ready.ticketId());
    assertEquals(8, ready.boundaryToken());
    assertEquals("SlicesPublished LeaseGranted TicketClosed", loop.factNames());
    assertEquals(ready, loop.send(poll(ticket)).last());
    assertEquals(RefusalCode.TICKET_GONE, loop.send(poll(ticket)).refusal());
    loop.release(session, ready.leaseId());
    loop.checkIdle();
  }

  private Command.Poll poll(long ticket) {
    return new Command.Poll(session, "poll", ticket, new TestLoop.Answers());
  }

  @Test
  void shouldNotWaitForWhatNobodyPublishes() {
    wait("q", "abc").last(Reply.Missed.class);
  }

  @Test
  void shouldShareOneWaitAndKeepTicketsApart() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers one = wait("q1", "a");
    TestLoop.Answers two = wait("q2", "a");
    loop.drain();
    long first = one.last(Reply.Ready.class).leaseId();
    assertTrue(first != two.last(Reply.Ready.class).leaseId());
  }

  @Test
  void shouldFindThePendingTicketAgain() {
    loop.publish(session, "p", 0, keys("a"));
    long ticket = wait("q", "a").last(Reply.Loading.class).ticketId();
    TestLoop.Answers again = wait("q", "a");
    assertEquals(ticket, again.last(Reply.Loading.class).ticketId());
    assertEquals(RefusalCode.TICKET_PENDING, wait("q", "ab").refusal());
    loop.drain();
    assertEquals(1, loop.state.openLeases());
    Reply.Ready ready = again.last(Reply.Ready.class);
    assertEquals(ready, loop.send(poll(ticket)).last());
    assertEquals(ready, loop.send(poll(ticket)).last(), "once for each that asked");
    assertEquals(RefusalCode.TICKET_GONE, loop.send(poll(ticket)).refusal());
    loop.release(session, ready.leaseId());
    loop.checkIdle();
  }

  @Test
  void shouldEndATicketForOneOfThoseThatAsked() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers one = wait("q", "a");
    TestLoop.Answers two = wait("q", "a");
    loop.send(
        new Command.Cancel(session, "c", new CancelTarget.AnsweredTo(one), new TestLoop.Answers()));
    assertEquals(new Reply.Cancelled(false), one.last());
    assertEquals(1, loop.state.openTickets());
    loop.drain();
    assertEquals(2, one.replies.size());
    loop.release(session, two.last(Reply.Ready.class).leaseId());
    loop.checkIdle();
  }

  @Test
  void shouldPrepareWithoutALease() {
    loop.publish(session, "p", 0, keys("ab"));
    TestLoop.Answers prepare = loop.query(session, "q", QueryMode.PREPARE, keys("abc"));
    long ticket = prepare.last(Reply.Loading.class).ticketId();
    TestLoop.Answers query = wait("q", "ab");
    assertTrue(query.last(Reply.Loading.class).ticketId() != ticket, "its own kind");
    assertTrue(loop.status().budgetUsedBytes() > 0);
    loop.drain();
    assertEquals(new Reply.Prepared(ticket, 8, false), prepare.last());
    assertEquals(RefusalCode.TICKET_GONE, loop.send(poll(ticket)).refusal());
    loop.release(session, query.last(Reply.Ready.class).leaseId());
    loop.checkIdle();
    assertEquals(
        new Reply.Prepared(0, 8, false),
        loop.query(session, "q", QueryMode.PREPARE, keys("abc")).last());
    loop.checkIdle();
  }

  @Test
  void shouldEndAPreparationAtItsDeadlineAndWithItsSession() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers late = loop.query(session, "q", QueryMode.PREPARE, keys("a"));
    loop.clock.advanceMillis(1_000);
    loop.step();
    assertTrue(late.last(Reply.Prepared.class).expired());
    TestLoop.Answers gone = loop.query(session, "q", QueryMode.PREPARE, keys("a"));
    loop.close(session, SessionEnd.DISCONNECTED);
    assertEquals(new Reply.Cancelled(false), gone.last());
    loop.drain();
    loop.checkIdle();
  }

  @Test
  void shouldReplaceAPendingTicket() {
    loop.publish(session, "p", 0, keys("ab"));
    TestLoop.Answers old = wait("q", "a");
    TestLoop.Answers replacing =
        loop.send(loop.queryOf(session, "q", QueryMode.WAIT, 0, true, keys("ab")));
    assertEquals(new Reply.Cancelled(true), old.last());
    loop.drain();
    assertEquals(8, replacing.last(Reply.Ready.class).boundaryToken());
  }

  @Test
  void shouldCancelAndGiveTheBudgetBack() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers query = wait("q", "a");
    long ticket = query.last(Reply.Loading.class).ticketId();
    assertTrue(loop.status().budgetUsedBytes() > 0);
    assertTrue(loop.cancelTicket(session, ticket).last(Reply.CancelTaken.class).wasOpen());
    assertFalse(loop.cancelTicket(session, ticket).last(Reply.CancelTaken.class).wasOpen());
    assertEquals(new Reply.Cancelled(false), query.last());
    loop.drain();
    assertEquals(2, query.replies.size());
    loop.checkIdle();
  }

  @Test
  void shouldCancelByTheSinkThatWaits() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers query = wait("q", "a");
    TestLoop.Answers cancel =
        loop.send(
            new Command.Cancel(
                session, "c", new CancelTarget.AnsweredTo(query), new TestLoop.Answers()));
    assertTrue(cancel.last(Reply.CancelTaken.class).wasOpen());
    assertEquals(new Reply.Cancelled(false), query.last());
  }

  @Test
  void shouldGiveTheBestAnswerAtTheDeadline() {
    loop.publishNow(session, "p", keys("a"));
    loop.publish(session, "p", 0, keys("bc"));
    TestLoop.Answers some = wait("q1", "ab");
    TestLoop.Answers none = wait("q2", "c");
    loop.clock.advanceMillis(999);
    loop.step();
    assertEquals(1, some.replies.size());
    loop.clock.advanceMillis(1);
    loop.step();
    assertEquals(4, some.last(Reply.Ready.class).boundaryToken());
    assertTrue(none.last(Reply.Missed.class).expired());
    loop.drain();
  }

  @Test
  void shouldMissWhenTheAwaitedPublishFails() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers query = wait("q", "a");
    buffers.failure = new IllegalStateException("gone");
    loop.drain();
    assertFalse(query.last(Reply.Missed.class).expired());
    loop.checkIdle();
  }

  @Test
  void shouldBoundTicketsOfASession() {
    loop.publish(session, "p", 0, keys("a"));
    for (int i = 0; i < 3; i++) {
      wait("q" + i, "a").last(Reply.Loading.class);
    }
    assertEquals(RefusalCode.TOO_MANY_TICKETS, wait("q4", "a").refusal());
  }

  @Test
  void shouldEndTicketsWithTheirSession() {
    loop.publish(session, "p", 0, keys("a"));
    TestLoop.Answers query = wait("q", "a");
    loop.close(session, SessionEnd.DISCONNECTED);
    assertEquals(new Reply.Cancelled(false), query.last());
    loop.drain();
    loop.checkIdle();
  }
}
