package io.orbitkv.chaos.input;

import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.EngineShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Damaged descriptors and payloads in the rings of a registered session: every field, overlapping
 * and outlying pages, old generations, foreign leases, forged sequences and tails, payloads that
 * change while they are read.
 */
final class DescriptorInput implements AutoCloseable {
  private static final EngineShape SHAPE =
      new EngineShape("hostile-rings", "rings", 2, 1024, 16, 8);
  private static final List<Op> OPS = List.of(Op.values());
  private static final long REPLY_MILLIS = 8_000;

  private final String socket;
  private final Random random;
  private final Mutator mutator;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment descriptor = arena.allocate(ChannelLayout.DESCRIPTOR_BYTES, 8);
  private final Submission submission = new Submission();
  private @Nullable RawChannel channel;
  private long nextRequestId;

  long answered;
  long closed;

  DescriptorInput(String socket, Random random) {
    this.socket = socket;
    this.random = random;
    this.mutator = new Mutator(random);
  }

  /**
   * Submits one damaged descriptor and waits for what comes of it.
   *
   * @throws AssertionError if nothing does
   */
  void round() throws NativeException {
    RawChannel session = channel;
    if (session == null) {
      session = RawChannel.open(socket, SHAPE);
      channel = session;
      nextRequestId = 1;
    }
    if (session.slots.available() == 0) {
      end(session);
      return;
    }
    int slot = session.slots.take();
    Op op = OPS.get(random.nextInt(OPS.size()));
    int payloadBytes = payload(op, session.slots.payload(slot));
    boolean damagePayload = payloadBytes > 0 && random.nextInt(3) == 0;
    if (damagePayload) {
      damagePayload(session.slots.payload(slot), payloadBytes);
    }
    boolean usesSlot = payloadBytes > 0 || op == Op.POLL;
    submission.set(
        op.code(),
        op == Op.QUERY && random.nextInt(3) == 0 ? random.nextInt(4) : 0,
        usesSlot ? slot : ChannelLayout.NO_SLOT,
        payloadBytes,
        nextRequestId++,
        session.registered.epoch(),
        session.registered.sessionId(),
        usesSlot ? session.slots.generation(slot) : 0,
        handle(op),
        op == Op.QUERY ? random.nextInt(3) : 0);
    submission.writeTo(descriptor, 0, 0);
    byte[] honest = descriptor.toArray(ValueLayout.JAVA_BYTE);
    boolean forgeSequence = random.nextInt(200) == 0;
    if (random.nextInt(2_000) == 0) {
      session.forgeTail(random.nextLong());
    } else {
      // Whole descriptors with hostile contents get as far as the loop.
      byte[] bytes =
          damagePayload || random.nextInt(3) == 0
              ? honest
              : mutator.damage(honest, forgeSequence ? 0 : 8, forgeSequence ? 0 : 16);
      session.submit(bytes, forgeSequence);
    }
    switch (session.await(REPLY_MILLIS)) {
      case ANSWERED -> {
        answered++;
        session.drain();
        session.slots.giveBack(slot);
      }
      case CLOSED -> end(session);
      case SILENT ->
          throw new AssertionError(
              "a descriptor was neither answered nor ended the session: " + op);
    }
  }

  /** Leases and tickets of anybody, where the operation has one. */
  private long handle(Op op) {
    return switch (op) {
      case RESTORE, RELEASE, POLL, CANCEL -> random.nextInt(40);
      case PING, QUERY, PREPARE, PUBLISH -> 0;
    };
  }

  private void end(RawChannel session) {
    closed++;
    session.close();
    channel = null;
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
