package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * A private copy of one submission descriptor. Mutable and reused, because one is read or written
 * per request.
 *
 * <pre>
 *  0 op u8 | 1 flags u8 | 2 slot u16 | 4 payloadBytes u32
 *  8 sequence u64   16 requestId u64   24 epoch u64   32 sessionId u64
 * 40 slotGeneration u64   48 handle u64   56 timeoutMillis u32 | 60 reserved u32
 * </pre>
 */
public final class Submission {
  private long word0;
  private long sequence;
  private long requestId;
  private long epoch;
  private long sessionId;
  private long slotGeneration;
  private long handle;
  private long word7;

  /** Sets everything but what the ring itself fills in, which is the sequence. */
  public void set(
      int op,
      int flags,
      int slot,
      int payloadBytes,
      long newRequestId,
      long newEpoch,
      long newSessionId,
      long newSlotGeneration,
      long newHandle,
      int timeoutMillis) {
    word0 =
        (op & 0xFFL)
            | (flags & 0xFFL) << 8
            | (slot & 0xFFFFL) << 16
            | (payloadBytes & 0xFFFFFFFFL) << 32;
    requestId = newRequestId;
    epoch = newEpoch;
    sessionId = newSessionId;
    slotGeneration = newSlotGeneration;
    handle = newHandle;
    word7 = timeoutMillis & 0xFFFFFFFFL;
  }

  /** Takes a copy; each word of the shared memory is read once. */
  public void readFrom(MemorySegment channel, long offset) {
    word0 = channel.get(ChannelLayout.LONG, offset);
    sequence = channel.get(ChannelLayout.LONG, offset + 8);
    requestId = channel.get(ChannelLayout.LONG, offset + 16);
    epoch = channel.get(ChannelLayout.LONG, offset + 24);
    sessionId = channel.get(ChannelLayout.LONG, offset + 32);
    slotGeneration = channel.get(ChannelLayout.LONG, offset + 40);
    handle = channel.get(ChannelLayout.LONG, offset + 48);
    word7 = channel.get(ChannelLayout.LONG, offset + 56);
  }

  /** Writes the 64 bytes. */
  public void writeTo(MemorySegment channel, long offset, long newSequence) {
    sequence = newSequence;
    channel.set(ChannelLayout.LONG, offset, word0);
    channel.set(ChannelLayout.LONG, offset + 8, sequence);
    channel.set(ChannelLayout.LONG, offset + 16, requestId);
    channel.set(ChannelLayout.LONG, offset + 24, epoch);
    channel.set(ChannelLayout.LONG, offset + 32, sessionId);
    channel.set(ChannelLayout.LONG, offset + 40, slotGeneration);
    channel.set(ChannelLayout.LONG, offset + 48, handle);
    channel.set(ChannelLayout.LONG, offset + 56, word7);
  }

  /** The operation's number, 0 to 255; see {@link Op#of}. */
  public int op() {
    return (int) (word0 & 0xFF);
  }

  /** The flags, 0 to 255. */
  public int flags() {
    return (int) (word0 >>> 8 & 0xFF);
  }

  /** The slot, 0 to 65,535. */
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

  public long sessionId() {
    return sessionId;
  }

  public long slotGeneration() {
    return slotGeneration;
  }

  public long handle() {
    return handle;
  }

  /** Milliseconds, 0 to 2^32-1. */
  public long timeoutMillis() {
    return word7 & 0xFFFFFFFFL;
  }

  /** The reserved word, 0 to 2^32-1. */
  public long reserved() {
    return word7 >>> 32;
  }
}
