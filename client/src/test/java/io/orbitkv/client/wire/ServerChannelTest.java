package io.orbitkv.client.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.wire.ServerChannel.Taken;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Both halves of the channel over one piece of memory: order, bounds, and every forgery. */
class ServerChannelTest {
  private static final long EPOCH = 7;
  private static final long SESSION = 12;
  private static final int NO_SLOT = ChannelLayout.NO_SLOT;

  private final ChannelGeometry geometry = ChannelGeometry.of(8, 4, 8192);
  private final MemorySegment memory = Arena.ofAuto().allocate(geometry.bytes(), 4096);
  private final ServerChannel server;
  private final SubmissionRing.Producer submissions;
  private final CompletionRing.Consumer completions;
  private final ArenaSlots slots;
  private final Submission submission = new Submission();
  private final Completion completion = new Completion();
  private long requestId;

  ServerChannelTest() {
    geometry.writeHeader(memory, EPOCH, SESSION);
    server = new ServerChannel(memory, geometry, EPOCH, SESSION);
    submissions = new SubmissionRing.Producer(memory, geometry);
    completions = new CompletionRing.Consumer(memory, geometry);
    slots = new ArenaSlots(memory, geometry);
  }

  @Test
  void shouldAnswerAPing() {
    ping();
    assertEquals(Taken.REQUEST, server.take());
    assertEquals(Op.PING, server.tag().op());
    assertFalse(server.takeSignalDue());
    server.ok(server.tag(), 99, 0);
    assertTrue(server.takeSignalDue());
    assertFalse(server.takeSignalDue());
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertEquals(99, completion.value());
    assertEquals(requestId, completion.requestId());
    assertEquals(RingRead.EMPTY, completions.take(completion));
    assertEquals(Taken.NOTHING, server.take());
    assertEquals(0, server.outstanding());
  }

  @Test
  void shouldCarryPayloadsBothWays() {
    QueryRequest query =
        new QueryRequest(
            0, 0, "r", List.of(new QueryRequest.GroupKeys(0, KeyRun.of(new byte[64], 32))));
    int slot = slots.take();
    int bytes = query.encode(slots.payload(slot));
    submit(Op.QUERY.code(), 0, slot, bytes, slots.generation(slot), 0, 0);
    assertEquals(Taken.REQUEST, server.take());
    assertEquals(
        Decoded.good(query), QueryRequest.decode(server.payload(), PayloadLimits.STANDARD));
    QueryAnswer answer =
        new QueryAnswer(
            5, 1000, 0, 128, List.of(new QueryAnswer.GroupRange(0, 0, 128, 2)), IntRun.of(128));
    server.ready(server.tag(), answer);
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertEquals(slot, completion.slot());
    assertEquals(Status.READY, completion.status());
    assertEquals(
        Decoded.good(answer),
        QueryAnswer.decode(slots.copyPayload(slot, (int) completion.payloadBytes())));
  }

  @Test
  void shouldGiveTheSlotBackWithLoadingAndOweANotice() {
    int slot = slots.take();
    slots.payload(slot).set(ChannelLayout.INT, 0, 1);
    submit(Op.QUERY.code(), Flags.QUERY_WAIT, slot, 8, slots.generation(slot), 0, 500);
    assertEquals(Taken.REQUEST, server.take());
    assertEquals(500, server.submission().timeoutMillis());
    RequestTag tag = server.tag();
    server.loading(tag, 44);
    assertEquals(1, server.outstanding());
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertTrue(completion.has(Flags.MORE));
    slots.giveBack(slot);
    server.notice(tag, Status.CANCELLED, 44, RefusalCode.TICKET_REPLACED, 0);
    assertEquals(0, server.outstanding());
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertTrue(completion.has(Flags.NOTICE));
    assertEquals(308, completion.code());
    assertEquals(44, completion.handle());
  }

  @Test
  void shouldRefuseWhatIsForged() {
    int slot = slots.take();
    long generation = slots.generation(slot);
    assertRefused(RefusalCode.EPOCH, s -> s.set(1, 0, NO_SLOT, 0, next(), 6, SESSION, 0, 0, 0));
    assertRefused(RefusalCode.SESSION, s -> s.set(1, 0, NO_SLOT, 0, next(), EPOCH, 13, 0, 0, 0));
    assertRefused(RefusalCode.REQUEST_ID, s -> set(s, 0, 1, 0, NO_SLOT, 0, 0, 0, 0, 0));
    ping();
    assertEquals(Taken.REQUEST, server.take());
    server.ok(server.tag(), 0, 0);
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertRefused(RefusalCode.REQUEST_ID, s -> set(s, requestId, 1, 0, NO_SLOT, 0, 0, 0, 0, 0));
    assertRefused(RefusalCode.REQUEST_ID, s -> set(s, -1, 1, 0, NO_SLOT, 0, 0, 0, 0, 0));
    assertRefused(RefusalCode.UNKNOWN_OP, s -> set(s, next(), 0, 0, NO_SLOT, 0, 0, 0, 0, 0));
    assertRefused(RefusalCode.UNKNOWN_OP, s -> set(s, next(), 9, 0, NO_SLOT, 0, 0, 0, 0, 0));
    assertRefused(RefusalCode.UNKNOWN_FLAG, s -> set(s, next(), 1, 1, NO_SLOT, 0, 0, 0, 0, 0));
    assertRefused(
        RefusalCode.UNKNOWN_FLAG, s -> set(s, next(), 2, 3, slot, 8, generation, 0, 0, 0));
    assertRefused(
        RefusalCode.UNKNOWN_FLAG, s -> set(s, next(), 2, 4, slot, 8, generation, 0, 0, 0));
    assertRefused(
        RefusalCode.UNKNOWN_FLAG, s -> set(s, next(), 8, 1, slot, 8, generation, 0, 0, 0));
    assertRefused(RefusalCode.RESERVED_NOT_ZERO, s -> set(s, next(), 1, 0, NO_SLOT, 8, 0, 0, 0, 0));
    assertRefused(RefusalCode.RESERVED_NOT_ZERO, s -> set(s, next(), 1, 0, NO_SLOT, 0, 1, 0, 0, 0));
    assertRefused(RefusalCode.RESERVED_NOT_ZERO, s -> set(s, next(), 1, 0, NO_SLOT, 0, 0, 1, 0, 0));
    assertRefused(RefusalCode.RESERVED_NOT_ZERO, s -> set(s, next(), 1, 0, NO_SLOT, 0, 0, 0, 1, 0));
    assertRefused(RefusalCode.RESERVED_NOT_ZERO, s -> set(s, next(), 1, 0, NO_SLOT, 0, 0, 0, 0, 1));
    assertRefused(RefusalCode.BAD_SLOT, s -> set(s, next(), 1, 0, slot, 0, 0, 0, 0, 0));
    assertRefused(RefusalCode.BAD_SLOT, s -> set(s, next(), 2, 0, 4, 8, 1, 0, 0, 0));
    assertRefused(RefusalCode.BAD_SLOT, s -> set(s, next(), 2, 0, NO_SLOT, 8, 1, 0, 0, 0));
    assertRefused(RefusalCode.BAD_LENGTH, s -> set(s, next(), 2, 0, slot, 0, generation, 0, 0, 0));
    assertRefused(RefusalCode.BAD_LENGTH, s -> set(s, next(), 3, 0, slot, 8, generation, 1, 0, 0));
    assertRefused(
        RefusalCode.BAD_LENGTH, s -> set(s, next(), 2, 0, slot, 8192, generation, 0, 0, 0));
    assertRefused(RefusalCode.BAD_LENGTH, s -> set(s, next(), 2, 0, slot, -1, generation, 0, 0, 0));
    assertRefused(RefusalCode.SLOT_GENERATION, s -> set(s, next(), 2, 0, slot, 8, 0, 0, 0, 0));
    assertRefused(RefusalCode.SLOT_GENERATION, s -> set(s, next(), 2, 0, slot, 8, -1, 0, 0, 0));
    assertRefused(RefusalCode.SLOT_GENERATION, s -> set(s, next(), 2, 0, slot, 8, 5, 0, 0, 0));

    submit(Op.QUERY.code(), 0, slot, 8, generation, 0, 0);
    assertEquals(Taken.REQUEST, server.take());
    RequestTag tag = server.tag();
    assertRefused(RefusalCode.SLOT_BUSY, s -> set(s, next(), 2, 0, slot, 8, 2, 0, 0, 0));
    server.refuse(tag, Refusal.of(RefusalCode.POOL_FULL, "full").withRetry(50));
    assertEquals(RingRead.TAKEN, completions.take(completion));
    assertEquals(50, completion.retryAfterMillis());
    assertTrue(completion.has(Flags.TEXT));
    assertEquals(
        Decoded.good(new RefusalText("full", RefusalCode.POOL_FULL.remedy())),
        RefusalText.decode(slots.copyPayload(slot, (int) completion.payloadBytes())));
    assertRefused(
        RefusalCode.SLOT_GENERATION, s -> set(s, next(), 2, 0, slot, 8, generation, 0, 0, 0));
  }

  @Test
  void shouldWorkOnACopyOfThePayload() {
    int slot = slots.take();
    slots.payload(slot).fill((byte) 1);
    submit(Op.QUERY.code(), 0, slot, 16, slots.generation(slot), 0, 0);
    assertEquals(Taken.REQUEST, server.take());
    slots.payload(slot).fill((byte) 2);
    byte[] expected = new byte[16];
    Arrays.fill(expected, (byte) 1);
    assertArrayEquals(expected, server.payload());
  }

  @Test
  void shouldReadAShortPayloadWhereALongOneLayAsIfTheRestWereNotThere() {
    int first = slots.take();
    slots.payload(first).fill((byte) 0x7f);
    submit(Op.QUERY.code(), 0, first, 8_000, slots.generation(first), 0, 0);
    assertEquals(Taken.REQUEST, server.take());
    QueryRequest query =
        new QueryRequest(
            0, 0, "r", List.of(new QueryRequest.GroupKeys(0, KeyRun.of(new byte[64], 32))));
    int slot = slots.take();
    int bytes = query.encode(slots.payload(slot));
    submit(Op.QUERY.code(), 0, slot, bytes, slots.generation(slot), 0, 0);
    assertEquals(Taken.REQUEST, server.take());
    assertEquals(bytes, server.payloadBytes());
    assertEquals(
        Decoded.good(query),
        QueryRequest.decode(server.sharedPayload(), server.payloadBytes(), PayloadLimits.STANDARD));
    assertEquals(bytes, server.payload().length);
  }

  @Test
  void shouldCloseASessionWhoseCursorsOrSequencesMakeNoSense() {
    ping();
    memory.set(ChannelLayout.LONG, geometry.submissionOffset() + 8, 3);
    assertEquals(Taken.BROKEN, server.take());
    assertEquals(Taken.BROKEN, server.take());
    assertFalse(server.brokenReason().isEmpty());

    for (long tail : new long[] {9, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      ServerChannel other = fresh();
      memory.set(ChannelLayout.LONG, ChannelLayout.SUBMISSION_TAIL, tail);
      assertEquals(Taken.BROKEN, other.take(), "tail " + tail);
    }
  }

  @Test
  void shouldCloseASessionWhoseCompletionHeadOvertakes() {
    for (int i = 0; i < 7; i++) {
      ping();
      assertEquals(Taken.REQUEST, server.take());
      server.ok(server.tag(), 0, 0);
    }
    memory.set(ChannelLayout.LONG, ChannelLayout.COMPLETION_HEAD, 8);
    ping();
    assertEquals(Taken.BROKEN, server.take());
  }

  @Test
  void shouldTakeNothingThatItCouldNotAnswer() {
    int taken = 0;
    for (int i = 0; i < 8; i++) {
      ping();
    }
    while (server.take() == Taken.REQUEST) {
      server.ok(server.tag(), 0, 0);
      taken++;
    }
    assertEquals(7, taken, "one entry is kept for a request that needs two answers");
    assertFalse(submissions.hasRoom() && taken == 8);
    while (completions.take(completion) == RingRead.TAKEN) {
      completions.commit();
    }
    assertEquals(Taken.REQUEST, server.take());
  }

  @Test
  void shouldCloseASessionThatSendsNothingButRefusals() {
    Taken last = Taken.REFUSED;
    for (int i = 0; i <= ServerChannel.MAX_REFUSALS_IN_A_ROW && last == Taken.REFUSED; i++) {
      set(submission, next(), 0, 0, NO_SLOT, 0, 0, 0, 0, 0);
      submissions.submit(submission);
      last = server.take();
      assertEquals(RingRead.TAKEN, completions.take(completion));
      completions.commit();
    }
    assertEquals(Taken.BROKEN, last);
  }

  @Test
  void shouldPassEverythingOnceAcrossTwoThreads() throws InterruptedException {
    Random random = Random64.seeded(ServerChannelTest.class);
    int total = 50_000;
    AtomicLong served = new AtomicLong();
    Thread manager =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (served.get() < total) {
                    if (server.take() == Taken.REQUEST) {
                      server.ok(server.tag(), server.tag().requestId() * 3, 0);
                      served.incrementAndGet();
                    } else {
                      LockSupport.parkNanos(1);
                    }
                  }
                });
    long sent = 0;
    long received = 0;
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (received < total && System.nanoTime() < deadline) {
      int burst = random.nextInt(8);
      while (burst-- > 0 && sent < total && sent - received < 7 && submissions.hasRoom()) {
        ping();
        sent++;
      }
      while (completions.take(completion) == RingRead.TAKEN) {
        received++;
        assertEquals(received, completion.requestId());
        assertEquals(received * 3, completion.value());
      }
      completions.commit();
      LockSupport.parkNanos(1);
    }
    manager.join(5000);
    assertEquals(total, received);
  }

  private interface Forgery {
    void fill(Submission submission);
  }

  private void assertRefused(RefusalCode code, Forgery forgery) {
    forgery.fill(submission);
    long forgedId = submission.requestId();
    submissions.submit(submission);
    assertEquals(Taken.REFUSED, server.take(), code.name());
    assertEquals(code, server.refusal());
    assertEquals(RingRead.TAKEN, completions.take(completion));
    completions.commit();
    assertEquals(Status.REFUSED, completion.status());
    assertEquals(code.number(), completion.code());
    assertEquals(code.category().code(), completion.category());
    assertEquals(forgedId, completion.requestId());
    assertFalse(completion.has(Flags.TEXT));
  }

  private ServerChannel fresh() {
    memory.fill((byte) 0);
    geometry.writeHeader(memory, EPOCH, SESSION);
    return new ServerChannel(memory, geometry, EPOCH, SESSION);
  }

  private long next() {
    return ++requestId;
  }

  private void ping() {
    submit(Op.PING.code(), 0, NO_SLOT, 0, 0, 0, 0);
  }

  private void submit(
      int op, int flags, int slot, int bytes, long generation, long handle, int timeoutMillis) {
    set(submission, next(), op, flags, slot, bytes, generation, handle, timeoutMillis, 0);
    submissions.submit(submission);
  }

  private static void set(
      Submission submission,
      long requestId,
      int op,
      int flags,
      int slot,
      int bytes,
      long generation,
      long handle,
      int timeoutMillis,
      int reserved) {
    submission.set(
        op, flags, slot, bytes, requestId, EPOCH, SESSION, generation, handle, timeoutMillis);
    if (reserved != 0) {
      MemorySegment scratch = Arena.ofAuto().allocate(64, 8);
      submission.writeTo(scratch, 0, 0);
      scratch.set(ChannelLayout.INT, 60, reserved);
      submission.readFrom(scratch, 0);
    }
  }
}
