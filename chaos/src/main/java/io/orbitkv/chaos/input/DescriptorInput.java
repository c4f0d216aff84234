package io.orbitkv.chaos.input;

import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.EngineShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Hostile descriptors in the rings of a registered session: damaged in any field, with old
 * generations, forged sequences and tails, and payloads with wrong lengths; or whole and with
 * {@link HostileValues}, so that they get past the channel to where requests are decided.
 */
final class DescriptorInput implements AutoCloseable {
  private static final EngineShape SHAPE =
      new EngineShape("hostile-rings", "rings", 2, 1024, 16, 8);
  private static final EngineShape WHOLE_SHAPE =
      new EngineShape("hostile-values", "rings", 2, 1024, 16, 8);
  private static final List<Op> OPS = List.of(Op.values());
  private static final long REPLY_MILLIS = 8_000;

  /** A damaged request id or generation makes every later one stale. */
  private static final int DAMAGED_PER_SESSION = 12;

  private final String socket;
  private final Random random;
  private final boolean whole;
  private final Mutator mutator;
  private final HostileValues values;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment descriptor = arena.allocate(ChannelLayout.DESCRIPTOR_BYTES, 8);
  private final Submission submission = new Submission();
  private @Nullable RawChannel channel;
  private long nextRequestId;
  private int sentHere;

  long sent;
  long answered;
  long closed;

  /** Answered well without anything to decide. */
  long doneByChannel;

  /** How often each refusal was given. */
  final Map<String, Integer> refusals = new TreeMap<>();

  /**
   * @param whole whether descriptors get past the channel, with hostile values, or are damaged
   */
  DescriptorInput(String socket, Random random, boolean whole) {
    this.socket = socket;
    this.random = random;
    this.whole = whole;
    this.mutator = new Mutator(random);
    this.values = new HostileValues(random, SHAPE.pages(), SHAPE.pageTokens());
  }

  /**
   * Submits one hostile descriptor and waits for what comes of it.
   *
   * @throws AssertionError if nothing does
   */
  void round() throws NativeException {
    RawChannel session = channel;
    if (session == null) {
      session = RawChannel.open(socket, whole ? WHOLE_SHAPE : SHAPE);
      channel = session;
      nextRequestId = 1;
      sentHere = 0;
    }
    int slot = session.slots.take();
    HostileValues.Request request =
        whole ? values.write(session.slots.payload(slot)) : anything(session.slots.payload(slot));
    boolean damagePayload = !whole && request.payloadBytes() > 0 && random.nextInt(3) == 0;
    if (damagePayload) {
      damagePayload(session.slots.payload(slot), request.payloadBytes());
    }
    boolean usesSlot = request.payloadBytes() > 0 || request.op() == Op.POLL;
    long requestId = nextRequestId++;
    submission.set(
        request.op().code(),
        request.flags(),
        usesSlot ? slot : ChannelLayout.NO_SLOT,
        request.payloadBytes(),
        requestId,
        session.registered.epoch(),
        session.registered.sessionId(),
        usesSlot ? session.slots.generation(slot) : 0,
        request.handle(),
        request.timeoutMillis());
    submission.writeTo(descriptor, 0, 0);
    byte[] honest = descriptor.toArray(ValueLayout.JAVA_BYTE);
    sent++;
    sentHere++;
    if (whole || damagePayload) {
      session.submit(honest, false);
    } else if (random.nextInt(2_000) == 0) {
      session.forgeTail(random.nextLong());
    } else {
      boolean forgeSequence = random.nextInt(200) == 0;
      session.submit(
          mutator.damage(honest, forgeSequence ? 0 : 8, forgeSequence ? 0 : 16), forgeSequence);
    }
    switch (session.await(REPLY_MILLIS)) {
      case ANSWERED -> {
        answered++;
        note(session.completion());
        session.drain();
        session.slots.giveBack(slot);
        if (session.slots.available() == 0 || (!whole && sentHere >= DAMAGED_PER_SESSION)) {
          renew(session);
        }
      }
      case CLOSED -> {
        closed++;
        renew(session);
      }
      case SILENT ->
          throw new AssertionError(
              "a descriptor was neither answered nor ended the session: " + request);
    }
  }

  /** What came of it, and what the session got by it. */
  private void note(Completion completion) {
    RefusalCode code = RefusalCode.of(completion.code());
    switch (completion.status()) {
      case OK -> {
        boolean byChannel =
            completion.op() == Op.PING.code() || completion.op() == Op.CANCEL.code();
        doneByChannel += byChannel ? 1 : 0;
      }
      case READY -> values.leased(completion.handle());
      case LOADING -> values.waits(completion.handle());
      case REFUSED -> refusals.merge(code == null ? "?" : code.name(), 1, Integer::sum);
      case MISS, CANCELLED, FAILED -> {}
    }
  }

  /** A request of any kind, to be damaged. */
  private HostileValues.Request anything(MemorySegment into) {
    Op op = OPS.get(random.nextInt(OPS.size()));
    int bytes = payload(op, into);
    int flags = op == Op.QUERY && random.nextInt(3) == 0 ? random.nextInt(4) : 0;
    return new HostileValues.Request(
        op, flags, bytes, handle(op), op == Op.QUERY ? random.nextInt(3) : 0);
  }

  /** Leases and tickets of anybody, where the operation has one. */
  private long handle(Op op) {
    return switch (op) {
      case RESTORE, RELEASE, POLL, CANCEL -> random.nextInt(40);
      case PING, QUERY, PREPARE, PUBLISH -> 0;
    };
  }

  private void renew(RawChannel session) {
    session.close();
    channel = null;
    values.forget();
  }

  private int payload(Op op, MemorySegment into) {
    KeyRun keys = KeyRun.of(randomKeys(1 + random.nextInt(12)), 32);
    return switch (op) {
      case QUERY, PREPARE ->
          new QueryRequest(0, 0, "hostile", List.of(new QueryRequest.GroupKeys(0, keys)))
              .encode(into);
      case PUBLISH -> new PublishRequest(0, "hostile", keys, pages(keys.count())).encode(into);
      case RESTORE ->
          new RestoreRequest(
                  "hostile",
                  List.of(
                      new RestoreRequest.GroupPages(
                          0, 16 * random.nextInt(4), pages(keys.count()))))
              .encode(into);
      case PING, POLL, CANCEL, RELEASE -> 0;
    };
  }

  /** Keys of a small universe, so that some are found. */
  private byte[] randomKeys(int count) {
    byte[] keys = new byte[count * 32];
    int first = random.nextInt(20);
    for (int i = 0; i < count; i++) {
      keys[i * 32] = (byte) (first + i);
    }
    return keys;
  }

  /** Pages that may repeat, overlap with others in flight, or not exist. */
  private IntRun pages(int count) {
    int[] pages = new int[count];
    for (int i = 0; i < count; i++) {
      pages[i] = random.nextInt(SHAPE.pages() + 1);
    }
    return IntRun.of(pages);
  }

  private void damagePayload(MemorySegment payload, int bytes) {
    byte[] damaged = mutator.damage(payload.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE), 0, 0);
    MemorySegment.copy(damaged, 0, payload, ValueLayout.JAVA_BYTE, 0, bytes);
  }

  @Override
  public void close() {
    RawChannel session = channel;
    if (session != null) {
      session.close();
    }
    arena.close();
  }
}
