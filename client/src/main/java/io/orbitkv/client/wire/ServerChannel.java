package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The Manager's half of one session's channel. It takes submissions, refuses by itself whatever
 * breaks the rules of docs/protocol.md 2.7, hands out private copies of the rest, and posts their
 * answers. All of it is called by one thread.
 *
 * <p>Nothing is taken unless the completion ring can hold everything that may still be answered, so
 * posting never waits and never fails. A request counts as outstanding from {@link #take} to its
 * last answer; its slot is the Manager's until the answer that gives it back.
 *
 * <p>After anything was posted {@link #takeSignalDue} is true once: the caller then signals the
 * client, once for a batch.
 */
public final class ServerChannel {
  /** A session that sends this many refused descriptors in a row is closed. */
  public static final int MAX_REFUSALS_IN_A_ROW = 1000;

  /** The most completions that one submission gives: LOADING and its notice. */
  private static final int MAX_ANSWERS = 2;

  /** What {@link #take} found. */
  public enum Taken {
    /** Nothing, or the session has too much outstanding. */
    NOTHING,
    /** An accepted request: see {@link #submission}, {@link #payload} and {@link #tag}. */
    REQUEST,
    /** A descriptor that was refused and answered already: see {@link #refusal}. */
    REFUSED,
    /** The session must be closed: see {@link #brokenReason}. */
    BROKEN
  }

  private static final byte[] NO_PAYLOAD = new byte[0];

  private final MemorySegment channel;
  private final ChannelGeometry geometry;
  private final long epoch;
  private final SubmissionRing.Consumer submissions;
  private final CompletionRing.Producer completions;
  private final SubmissionGate gate;
  private final Submission submission = new Submission();
  private final Completion completion = new Completion();
  private final PayloadScratch scratch;
  private byte[] payload = NO_PAYLOAD;
  private int payloadBytes;
  private @Nullable RefusalCode refusal;
  private String brokenReason = "";
  private int refusalsInARow;
  private int outstanding;
  private int reserved;
  private boolean signalDue;

  /** The server side of channel memory whose header page is written. */
  public ServerChannel(
      MemorySegment channel, ChannelGeometry geometry, long epoch, long sessionId) {
    this(channel, geometry, epoch, sessionId, new PayloadScratch());
  }

  /**
   * The same.
   *
   * @param scratch shared with the other channels of this thread
   */
  public ServerChannel(
      MemorySegment channel,
      ChannelGeometry geometry,
      long epoch,
      long sessionId,
      PayloadScratch scratch) {
    this.scratch = scratch;
    this.channel = channel;
    this.geometry = geometry;
    this.epoch = epoch;
    this.submissions = new SubmissionRing.Consumer(channel, geometry);
    this.completions = new CompletionRing.Producer(channel, geometry);
    this.gate = new SubmissionGate(geometry, epoch, sessionId);
  }

  /** Takes the next submission. */
  public Taken take() {
    if (!brokenReason.isEmpty()) {
      return Taken.BROKEN;
    }
    if (outstanding >= geometry.entries() || !completions.hasRoom(reserved + MAX_ANSWERS)) {
      return completions.broken() ? broken("completionHead makes no sense") : Taken.NOTHING;
    }
    return switch (submissions.take(submission)) {
      case EMPTY -> Taken.NOTHING;
      case BROKEN -> broken("submissionTail or a sequence number makes no sense");
      case TAKEN -> admit();
    };
  }

  /** Whether {@link #take} could find something; for the last look before a sleep. */
  public boolean hasNext() {
    return submissions.hasNext();
  }

  /** The request taken last. */
  public Submission submission() {
    return submission;
  }

  /** A private copy of its payload, empty if it has none; the caller may keep it. */
  public byte[] payload() {
    return Arrays.copyOf(payload, payloadBytes);
  }

  /** The array that its payload begins, private too but written again by the next {@link #take}. */
  public byte[] sharedPayload() {
    return payload;
  }

  /** How long the payload is. */
  public int payloadBytes() {
    return payloadBytes;
  }

  /** What its answers need; the caller keeps it. */
  public RequestTag tag() {
    Op op = Op.of(submission.op());
    if (op == null) {
      throw new IllegalStateException("no request was taken");
    }
    return new RequestTag(
        op,
        submission.requestId(),
        submission.slot(),
        submission.slotGeneration(),
        mayWait() ? MAX_ANSWERS : 1);
  }

  /** Why the descriptor taken last was refused. */
  public RefusalCode refusal() {
    RefusalCode code = refusal;
    if (code == null) {
      throw new IllegalStateException("nothing was refused");
    }
    return code;
  }

  /** Why the session must be closed, empty if it need not. */
  public String brokenReason() {
    return brokenReason;
  }

  /** Requests taken and not answered for good. */
  public int outstanding() {
    return outstanding;
  }

  /** Whether the client must be signalled; asking resets it. */
  public boolean takeSignalDue() {
    boolean due = signalDue;
    signalDue = false;
    return due;
  }

  /** Where to write the reply of a request with a slot. */
  public MemorySegment replyPayload(RequestTag tag) {
    return channel.asSlice(geometry.payloadOffset(tag.slot()), geometry.maxPayloadBytes());
  }

  /** Answers OK; {@code payloadBytes} were written to {@link #replyPayload}. */
  public void ok(RequestTag tag, long value, int payloadBytes) {
    start(tag, 0, payloadBytes, Status.OK);
    completion.setResult(0, value);
    finish(tag);
  }

  /** Answers a publish; {@code why} says why blocks were refused, null if none was. */
  public void published(
      RequestTag tag, PublishReply reply, long storedBytes, @Nullable Refusal why) {
    start(tag, 0, reply.encode(replyPayload(tag)), Status.OK);
    completion.setResult(0, storedBytes);
    if (why != null) {
      completion.setReason(why.category().code(), why.code(), why.retryAfterMillis());
    }
    finish(tag);
  }

  /** Answers READY to a QUERY or POLL, with the lease in the answer (0 when discovering). */
  public void ready(RequestTag tag, QueryAnswer answer) {
    start(tag, 0, answer.encode(replyPayload(tag)), Status.READY);
    completion.setResult(answer.leaseId(), answer.boundaryToken());
    finish(tag);
  }

  /** Answers MISS to a QUERY or POLL; {@code reason} is null for an ordinary miss. */
  public void miss(RequestTag tag, QueryAnswer answer, @Nullable RefusalCode reason) {
    start(tag, 0, answer.encode(replyPayload(tag)), Status.MISS);
    completion.setResult(0, answer.boundaryToken());
    if (reason != null) {
      completion.setReason(reason.category().code(), reason.number(), 0);
    }
    finish(tag);
  }

  /** Answers LOADING to a QUERY with WAIT or a PREPARE: its slot goes back, its notice is owed. */
  public void loading(RequestTag tag, long ticketId) {
    start(tag, Flags.MORE, 0, Status.LOADING);
    completion.setResult(ticketId, 0);
    gate.giveBack(tag.slot());
    reserved--;
    post();
  }

  /** Answers LOADING to a POLL. */
  public void stillLoading(RequestTag tag, long ticketId) {
    start(tag, 0, 0, Status.LOADING);
    completion.setResult(ticketId, 0);
    finish(tag);
  }

  /** Answers OK to a PREPARE; {@code expired} if its time ran out. */
  public void prepared(RequestTag tag, long boundary, boolean expired) {
    start(tag, 0, 0, Status.OK);
    completion.setResult(0, boundary);
    if (expired) {
      RefusalCode reason = RefusalCode.TICKET_EXPIRED;
      completion.setReason(reason.category().code(), reason.number(), 0);
    }
    finish(tag);
  }

  /**
   * Posts the notice that a request answered by {@link #loading} is owed.
   *
   * @param status READY, MISS, CANCELLED or REFUSED; of a PREPARE also OK
   * @param reason why, null if there is nothing to say
   */
  public void notice(
      RequestTag tag, Status status, long ticketId, @Nullable RefusalCode reason, long boundary) {
    completion.set(
        tag.op().code(), Flags.NOTICE, ChannelLayout.NO_SLOT, 0, tag.requestId(), epoch, 0, status);
    completion.setResult(ticketId, boundary);
    if (reason != null) {
      completion.setReason(reason.category().code(), reason.number(), 0);
    }
    outstanding--;
    reserved--;
    post();
  }

  /** Answers REFUSED, with the text where there is a slot for it. */
  public void refuse(RequestTag tag, Refusal why) {
    fail(tag, Status.REFUSED, why);
  }

  /** Answers FAILED, with the text where there is a slot for it. */
  public void failed(RequestTag tag, Refusal why) {
    fail(tag, Status.FAILED, why);
  }

  /** Answers CANCELLED. */
  public void cancelled(RequestTag tag) {
    start(tag, 0, 0, Status.CANCELLED);
    finish(tag);
  }

  /** Starts counting the layers of a restore. */
  public void startProgress(RequestTag tag, int layersTotal) {
    long at = geometry.slotOffset(tag.slot());
    ChannelLayout.setIntRelease(channel, at + ChannelLayout.SLOT_LAYERS_DONE, 0);
    ChannelLayout.setIntRelease(channel, at + ChannelLayout.SLOT_LAYERS_TOTAL, layersTotal);
  }

  /** Tells that the first {@code layersDone} layers are in place; the client must be signalled. */
  public void progress(RequestTag tag, int layersDone) {
    long at = geometry.slotOffset(tag.slot()) + ChannelLayout.SLOT_LAYERS_DONE;
    ChannelLayout.setIntRelease(channel, at, layersDone);
    signalDue = true;
  }

  /** Writes the session's state for tools that look at the memory: 1 open, 2 draining, 3 closed. */
  public void setState(int state) {
    ChannelLayout.setIntRelease(channel, ChannelLayout.SESSION_STATE, state);
  }

  private Taken admit() {
    RefusalCode code = gate.check(submission);
    if (code == null) {
      code = copyPayload();
    }
    if (code != null) {
      return refuseDescriptor(code);
    }
    gate.accept(submission);
    outstanding++;
    reserved += mayWait() ? MAX_ANSWERS : 1;
    refusalsInARow = 0;
    return Taken.REQUEST;
  }

  private boolean mayWait() {
    Op op = Op.of(submission.op());
    return op != null && op.mayWait(submission.flags());
  }

  /** Copies the payload between two looks at the slot's generation. */
  private @Nullable RefusalCode copyPayload() {
    payload = NO_PAYLOAD;
    payloadBytes = 0;
    int slot = submission.slot();
    if (slot == ChannelLayout.NO_SLOT) {
      return null;
    }
    if (slotGeneration(slot) != submission.slotGeneration()) {
      return RefusalCode.SLOT_GENERATION;
    }
    int bytes = (int) submission.payloadBytes();
    if (bytes > 0) {
      payload = scratch.withRoom(bytes);
      payloadBytes = bytes;
      MemorySegment.copy(
          channel, geometry.payloadOffset(slot), MemorySegment.ofArray(payload), 0, bytes);
    }
    return slotGeneration(slot) == submission.slotGeneration() ? null : RefusalCode.SLOT_GENERATION;
  }

  private long slotGeneration(int slot) {
    return ChannelLayout.getLongAcquire(
        channel, geometry.slotOffset(slot) + ChannelLayout.SLOT_GENERATION);
  }

  private Taken refuseDescriptor(RefusalCode code) {
    refusal = code;
    completion.set(
        submission.op(),
        0,
        submission.slot(),
        0,
        submission.requestId(),
        epoch,
        submission.slotGeneration(),
        Status.REFUSED);
    completion.setReason(code.category().code(), code.number(), 0);
    post();
    if (++refusalsInARow > MAX_REFUSALS_IN_A_ROW) {
      return broken(refusalsInARow + " refused descriptors in a row, the last for " + code);
    }
    return Taken.REFUSED;
  }

  private Taken broken(String reason) {
    brokenReason = reason;
    return Taken.BROKEN;
  }

  private void fail(RequestTag tag, Status status, Refusal why) {
    boolean text = tag.slot() != ChannelLayout.NO_SLOT;
    int bytes = text ? new RefusalText(why.message(), why.remedy()).encode(replyPayload(tag)) : 0;
    start(tag, text ? Flags.TEXT : 0, bytes, status);
    completion.setReason(why.category().code(), why.code(), why.retryAfterMillis());
    finish(tag);
  }

  private void start(RequestTag tag, int flags, int payloadBytes, Status status) {
    completion.set(
        tag.op().code(),
        flags,
        tag.slot(),
        payloadBytes,
        tag.requestId(),
        epoch,
        tag.slotGeneration(),
        status);
  }

  /** Posts the last answer of a request. */
  private void finish(RequestTag tag) {
    gate.giveBack(tag.slot());
    outstanding--;
    reserved -= tag.answers();
    post();
  }

  private void post() {
    completions.post(completion);
    signalDue = true;
  }
}
