package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.client.Answer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.Status;
import io.orbitkv.client.wire.Submission;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contracts about descriptors that are delayed, forged or torn. */
public interface ForgeryContract extends Contract {
  @Test
  default void forgedDescriptorsAreRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("forged"));
        RawSession raw = new RawSession(manager());
        RawSession.Channel channel =
            raw.register(engine.register(), List.of(engine.buffer().descriptor()))) {
      Registered r = channel.registered();
      long epoch = r.epoch();
      long session = r.sessionId();
      int none = ChannelLayout.NO_SLOT;
      int slot = channel.slots().take();
      long gen = channel.slots().generation(slot);
      int max = r.channel().maxPayloadBytes();
      refused(RefusalCode.EPOCH, channel, 1, 0, none, 0, epoch - 1, session, 0, 0, 0);
      refused(RefusalCode.SESSION, channel, 1, 0, none, 0, epoch, session + 1, 0, 0, 0);
      refused(RefusalCode.UNKNOWN_OP, channel, 99, 0, none, 0, epoch, session, 0, 0, 0);
      refused(RefusalCode.UNKNOWN_FLAG, channel, 1, 128, none, 0, epoch, session, 0, 0, 0);
      refused(RefusalCode.RESERVED_NOT_ZERO, channel, 1, 0, none, 0, epoch, session, 0, 5, 0);
      refused(RefusalCode.RESERVED_NOT_ZERO, channel, 1, 0, none, 0, epoch, session, 0, 0, 5);
      refused(RefusalCode.BAD_SLOT, channel, 2, 0, none, 8, epoch, session, 1, 0, 0);
      refused(RefusalCode.BAD_SLOT, channel, 2, 0, 4000, 8, epoch, session, 1, 0, 0);
      refused(RefusalCode.BAD_LENGTH, channel, 2, 0, slot, max + 1, epoch, session, gen, 0, 0);
      refused(RefusalCode.SLOT_GENERATION, channel, 2, 0, slot, 8, epoch, session, gen + 9, 0, 0);
      refused(RefusalCode.SLOT_GENERATION, channel, 2, 0, slot, 8, epoch, session, 0, 0, 0);
      Submission submission = new Submission();
      submission.set(1, 0, none, 0, 1, epoch, session, 0, 0, 0);
      Completion completion = new Completion();
      channel.submit(submission);
      channel.take(completion);
      assertEquals(RefusalCode.REQUEST_ID.number(), completion.code());
      submission.set(1, 0, none, 0, channel.nextId(), epoch, session, 0, 0, 0);
      channel.submit(submission);
      channel.take(completion);
      assertEquals(Status.OK, completion.status());
    }
  }

  @Test
  default void tornSequenceClosesTheSession() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("torn"));
        ContractEngine bystander = ContractEngine.simple(Contract.fresh("bystander"));
        OrbitClient other = bystander.connect(manager());
        RawSession raw = new RawSession(manager());
        RawSession.Channel channel =
            raw.register(engine.register(), List.of(engine.buffer().descriptor()))) {
      // A tail that moved over a descriptor nobody wrote: its sequence is 0, its position 1.
      long tailOffset = 1024;
      channel.mapping().segment().set(ValueLayout.JAVA_LONG, tailOffset, 2);
      channel.ring();
      FrameRead read = raw.read();
      Frame frame = assertInstanceOf(FrameRead.Complete.class, read, read.toString()).frame();
      assertEquals(FrameType.CLOSING.code(), frame.header().type());
      String reason =
          Closing.decode(frame.json()) instanceof Decoded.Good<Closing>(Closing closing)
              ? closing.reason()
              : "unreadable";
      assertEquals("PROTOCOL_VIOLATION", reason);
      assertInstanceOf(FrameRead.Ended.class, raw.read());
      assertInstanceOf(Answer.Ok.class, other.ping());
    }
  }

  private static void refused(
      RefusalCode code,
      RawSession.Channel channel,
      int op,
      int flags,
      int slot,
      int bytes,
      long epoch,
      long session,
      long generation,
      long handle,
      int timeoutMillis)
      throws IOException {
    long id = channel.nextId();
    Submission submission = new Submission();
    submission.set(op, flags, slot, bytes, id, epoch, session, generation, handle, timeoutMillis);
    channel.submit(submission);
    Completion completion = new Completion();
    channel.take(completion);
    assertEquals(Status.REFUSED, completion.status(), code.name());
    assertEquals(code.number(), completion.code(), code.name());
    assertEquals(id, completion.requestId());
    assertEquals(slot, completion.slot());
  }
}
