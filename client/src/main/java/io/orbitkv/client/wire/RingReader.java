package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * The consuming side of one ring of 64-byte entries: it alone moves the head. Entries are copied
 * out before the head is given back with release order.
 *
 * <p>The tail belongs to the other process and is never trusted: one that went back or ran too far
 * ahead breaks the ring for good.
 */
final class RingReader {
  private final MemorySegment channel;
  private final long entriesOffset;
  private final int entries;
  private final long tailOffset;
  private final long headOffset;
  private long head;
  private long tail;
  private long committedHead;
  private boolean broken;

  RingReader(
      MemorySegment channel, long entriesOffset, int entries, long tailOffset, long headOffset) {
    this.channel = channel;
    this.entriesOffset = entriesOffset;
    this.entries = entries;
    this.tailOffset = tailOffset;
    this.headOffset = headOffset;
  }

  /** Whether the other side's tail made no sense. */
  boolean broken() {
    return broken;
  }

  /** Marks the ring as one that cannot be trusted any more. */
  void setBroken() {
    broken = true;
  }

  /** Whether an entry is there, looking at the tail only if none was known. */
  boolean hasNext() {
    if (broken) {
      return false;
    }
    if (head == tail) {
      long now = ChannelLayout.getLongAcquire(channel, tailOffset);
      if (now < tail || now - committedHead > entries) {
        broken = true;
        return false;
      }
      tail = now;
    }
    return head != tail;
  }

  /** The position of the next entry. */
  long position() {
    return head;
  }

  /** Where the next entry is. */
  long entryOffset() {
    return entriesOffset + (head & (entries - 1)) * ChannelLayout.DESCRIPTOR_BYTES;
  }

  /** Takes the entry at {@link #entryOffset}, which was copied. */
  void advance() {
    head++;
  }

  /** Gives the taken entries back to the writer. */
  void commit() {
    if (committedHead != head) {
      committedHead = head;
      ChannelLayout.setLongRelease(channel, headOffset, head);
    }
  }
}
