package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * A private copy of one completion descriptor. Mutable and reused, because one is read or written
 * per request.
 *
 * <pre>
 *  0 op u8 | 1 flags u8 | 2 slot u16 | 4 payloadBytes u32
 *  8 sequence u64   16 requestId u64   24 epoch u64
 * 32 status u8 | 33 category u8 | 34 code u16 | 36 retryAfterMillis u32
 * 40 slotGeneration u64   48 handle u64   56 value u64
 * </pre>
 */
public final class Completion {
  private long word0;
  private long sequence;
  private long requestId;
  private long epoch;
  private long word4;
  private long slotGeneration;
  private long handle;
  private long value;

  /** Sets which request it answers and how, without handle, value and reason. */
  public void set(
      int op,
      int flags,
      int slot,
      int payloadBytes,
      long newRequestId,
      long newEpoch,
      long newSlotGeneration,
      Status status) {
    word0 =
        (op & 0xFFL)
            | (flags & 0xFFL) << 8
            | (slot & 0xFFFFL) << 16
            | (payloadBytes & 0xFFFFFFFFL) << 32;
    requestId = newRequestId;
    epoch = newEpoch;
    word4 = status.code();
    slotGeneration = newSlotGeneration;
    handle = 0;
    value = 0;
  }

  /** Sets what the answer gives. */
  public void setResult(long newHandle, long newValue) {
    handle = newHandle;
    value = newValue;
  }

  /** Sets why; {@code categoryCode} and {@code code} 0 for no reason. */
  public void setReason(int categoryCode, int code, int retryAfterMillis) {
    word4 =
        (word4 & 0xFF)
            | (categoryCode & 0xFFL) << 8
            | (code & 0xFFFFL) << 16
            | (retryAfterMillis & 0xFFFFFFFFL) << 32;
  }

  /** Takes a copy; each word of the shared memory is read once. */
  public void readFrom(MemorySegment channel, long offset) {
    word0 = channel.get(ChannelLayout.LONG, offset);
    sequence = channel.get(ChannelLayout.LONG, offset + 8);
    requestId = channel.get(ChannelLayout.LONG, offset + 16);
    epoch = channel.get(ChannelLayout.LONG, offset + 24);
    word4 = channel.get(ChannelLayout.LONG, offset + 32);
    slotGeneration = channel.get(ChannelLayout.LONG, offset + 40);
    handle = channel.get(ChannelLayout.LONG, offset + 48);
    value = channel.get(ChannelLayout.LONG, offset + 56);
  }

  /** Writes the 64 bytes. */
  public void writeTo(MemorySegment channel, long offset, long newSequence) {
    sequence = newSequence;
    channel.set(ChannelLayout.LONG, offset, word0);
    channel.set(ChannelLayout.LONG, offset + 8, sequence);
    channel.set(ChannelLayout.LONG, offset + 16, requestId);
    channel.set(ChannelLayout.LONG, offset + 24, epoch);
    channel.set(ChannelLayout.LONG, offset + 32, word4);
    channel.set(ChannelLayout.LONG, offset + 40, slotGeneration);
    channel.set(ChannelLayout.LONG, offset + 48, handle);
    channel.set(ChannelLayout.LONG, offset + 56, value);
  }

  /** The request's operation number, 0 to 255. */
  public int op() {
    return (int) (word0 & 0xFF);
  }

  /** {@link Flags#MORE}, {@link Flags#NOTICE}, {@link Flags#TEXT}. */
  public int flags() {
    return (int) (word0 >>> 8 & 0xFF);
  }

  /** Whether a flag is set. */
  public boolean has(int flag) {
    return (flags() & flag) != 0;
  }

  /** The slot that is given back, or {@link ChannelLayout#NO_SLOT}. */
  public int slot() {
    return (int) (word0 >>> 16 & 0xFFFF);
  }

  /** Bytes of payload, 0 to 2^32-1. */
  public long payloadBytes() {
    return word0 >>> 32;
  }

  public long sequence() {
    return sequence;
  }

  public long requestId() {
    return requestId;
  }

  public long epoch() {
    return epoch;
  }

  /** How the request stands. */
  public Status status() {
    return Status.of((int) (word4 & 0xFF));
  }

  /** The {@link Category}'s number, 0 for none. */
  public int category() {
    return (int) (word4 >>> 8 & 0xFF);
  }

  /** The {@link RefusalCode}'s number, 0 for none. */
  public int code() {
    return (int) (word4 >>> 16 & 0xFFFF);
  }

  /** When trying again makes sense, 0 if waiting does not help; at most 2^31-1. */
  public int retryAfterMillis() {
    return (int) Math.min(word4 >>> 32, Integer.MAX_VALUE);
  }

  public long slotGeneration() {
    return slotGeneration;
  }

  public long handle() {
    return handle;
  }

  public long value() {
    return value;
  }
}
