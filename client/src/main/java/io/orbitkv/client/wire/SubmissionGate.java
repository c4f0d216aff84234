package io.orbitkv.client.wire;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which submissions of one session are accepted, by the checks of docs/protocol.md 2.7 in
 * their order: whatever is delayed, forged or misshapen is refused here and reaches nothing behind.
 */
final class SubmissionGate {
  private final ChannelGeometry geometry;
  private final long epoch;
  private final long sessionId;
  private final long[] generations;
  private final BitSet busySlots;
  private long lastRequestId;

  SubmissionGate(ChannelGeometry geometry, long epoch, long sessionId) {
    this.geometry = geometry;
    this.epoch = epoch;
    this.sessionId = sessionId;
    this.generations = new long[geometry.slotCount()];
    this.busySlots = new BitSet(geometry.slotCount());
  }

  /** Every check up to the slot's generation in the descriptor; null if all passed. */
  @Nullable RefusalCode check(Submission submission) {
    if (submission.epoch() != epoch) {
      return RefusalCode.EPOCH;
    }
    if (submission.sessionId() != sessionId) {
      return RefusalCode.SESSION;
    }
    if (submission.requestId() <= lastRequestId) {
      return RefusalCode.REQUEST_ID;
    }
    lastRequestId = submission.requestId();
    Op op = Op.of(submission.op());
    if (op == null) {
      return RefusalCode.UNKNOWN_OP;
    }
    if (!op.allowsFlags(submission.flags())) {
      return RefusalCode.UNKNOWN_FLAG;
    }
    if (usesReserved(op, submission)) {
      return RefusalCode.RESERVED_NOT_ZERO;
    }
    return checkSlot(op, submission);
  }

  /** Notes that the slot's payload was taken under this generation. */
  void accept(Submission submission) {
    if (submission.slot() != ChannelLayout.NO_SLOT) {
      generations[submission.slot()] = submission.slotGeneration();
      busySlots.set(submission.slot());
    }
  }

  /** Notes that the slot went back to the client. */
  void giveBack(int slot) {
    if (slot != ChannelLayout.NO_SLOT) {
      busySlots.clear(slot);
    }
  }

  private static boolean usesReserved(Op op, Submission submission) {
    if (submission.reserved() != 0) {
      return true;
    }
    if (!op.needsSlot() && (submission.slotGeneration() != 0 || submission.payloadBytes() != 0)) {
      return true;
    }
    if (!op.usesHandle() && submission.handle() != 0) {
      return true;
    }
    return !op.mayWait(submission.flags()) && submission.timeoutMillis() != 0;
  }

  private @Nullable RefusalCode checkSlot(Op op, Submission submission) {
    int slot = submission.slot();
    if (!op.needsSlot()) {
      return slot == ChannelLayout.NO_SLOT ? null : RefusalCode.BAD_SLOT;
    }
    if (slot >= geometry.slotCount()) {
      return RefusalCode.BAD_SLOT;
    }
    if (busySlots.get(slot)) {
      return RefusalCode.SLOT_BUSY;
    }
    long bytes = submission.payloadBytes();
    if (bytes > geometry.maxPayloadBytes() || op.hasPayload() != (bytes > 0)) {
      return RefusalCode.BAD_LENGTH;
    }
    if (submission.slotGeneration() <= generations[slot]) {
      return RefusalCode.SLOT_GENERATION;
    }
    return null;
  }
}
