package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * The producing side of one ring of 64-byte entries: it alone moves the tail. The entry is written
 * first, then the tail with release order; the doorbell is the caller's.
 *
 * <p>The head belongs to the other process and is never trusted: one that went back or overtook the
 * tail breaks the ring for good.
 */
final class RingWriter {
  private final MemorySegment channel;
  private final long entriesOffset;
  private final int entries;
  private final long tailOffset;
  private final long headOffset;
  private long tail;
  private long head;
  private boolean broken;

  RingWriter(
      MemorySegment channel, long entriesOffset, int entries, long tailOffset, long headOffset) {
    this.channel = channel;
    this.entriesOffset = entriesOffset;
    this.entries = entries;
    this.tailOffset = tailOffset;
    this.headOffset = headOffset;
  }

  /** Whether the other side's head made no sense. */
  boolean broken() {
    return broken;
  }

  /** The position of the next entry. */
  long position() {
    return tail;
  }

  /** How many entries the other side has not taken, by a fresh look at its head. */
  int unread() {
    long now = ChannelLayout.getLongAcquire(channel, headOffset);
    if (now < head || now > tail) {
      broken = true;
    } else {
      head = now;
    }
    return (int) (tail - head);
  }

  /** Whether there is room for so many more, looking at the head only if it is needed. */
  boolean hasRoom(int wanted) {
    return tail - head + wanted <= entries || unread() + wanted <= entries;
  }

  /** Where to write the next entry. */
  long entryOffset() {
    return entriesOffset + (tail & (entries - 1)) * ChannelLayout.DESCRIPTOR_BYTES;
  }

  /** Makes the entry at {@link #entryOffset} visible. */
  void advance() {
    tail++;
    ChannelLayout.setLongRelease(channel, tailOffset, tail);
  }
}
