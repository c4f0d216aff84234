package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/**
 * The client's books of the arena: which slots are free, and each slot's generation. A slot is
 * taken for a request and is free again only when the completion that gives it back was read. One
 * thread at a time.
 */
public final class ArenaSlots {
  private final MemorySegment channel;
  private final ChannelGeometry geometry;
  private final long[] generations;
  private final int[] free;
  private int freeCount;

  public ArenaSlots(MemorySegment channel, ChannelGeometry geometry) {
    this.channel = channel;
    this.geometry = geometry;
    this.generations = new long[geometry.slotCount()];
    this.free = new int[geometry.slotCount()];
    for (int slot = geometry.slotCount() - 1; slot >= 0; slot--) {
      free[freeCount++] = slot;
    }
  }

  /** How many can be taken now. */
  public int available() {
    return freeCount;
  }

  /**
   * Takes a slot, gives it a new generation and clears its progress.
   *
   * @return the slot, {@link ChannelLayout#NO_SLOT} if none is free
   */
  public int take() {
    if (freeCount == 0) {
      return ChannelLayout.NO_SLOT;
    }
    int slot = free[--freeCount];
    generations[slot]++;
    long at = geometry.slotOffset(slot);
    channel.set(ChannelLayout.LONG, at + ChannelLayout.SLOT_GENERATION, generations[slot]);
    channel.set(ChannelLayout.INT, at + ChannelLayout.SLOT_LAYERS_DONE, 0);
    channel.set(ChannelLayout.INT, at + ChannelLayout.SLOT_LAYERS_TOTAL, 0);
    return slot;
  }

  /** The generation of the slot's present use. */
  public long generation(int slot) {
    return generations[slot];
  }

  /** Makes a taken slot free. */
  public void giveBack(int slot) {
    free[freeCount++] = slot;
  }

  /** Where the payload of a slot lies. */
  public MemorySegment payload(int slot) {
    return channel.asSlice(geometry.payloadOffset(slot), geometry.maxPayloadBytes());
  }

  /** Copies the first bytes of a slot's payload out of the shared memory. */
  public byte[] copyPayload(int slot, int bytes) {
    byte[] copy = new byte[bytes];
    MemorySegment.copy(
        channel, geometry.payloadOffset(slot), MemorySegment.ofArray(copy), 0, bytes);
    return copy;
  }

  /** How many layers of the restore in this slot are in place. */
  public int layersDone(int slot) {
    return ChannelLayout.getIntAcquire(
        channel, geometry.slotOffset(slot) + ChannelLayout.SLOT_LAYERS_DONE);
  }

  /** How many layers the restore in this slot has; 0 before it starts. */
  public int layersTotal(int slot) {
    return ChannelLayout.getIntAcquire(
        channel, geometry.slotOffset(slot) + ChannelLayout.SLOT_LAYERS_TOTAL);
  }
}
