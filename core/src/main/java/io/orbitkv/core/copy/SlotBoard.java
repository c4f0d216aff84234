package io.orbitkv.core.copy;

/**
 * How the Manager hands the slots of a staging ring to the engine that owns it, and gets them back.
 * Only the engine's kernel touches its pages: the Manager fills a slot and posts that it be
 * scattered, or posts that pages be gathered into it. The board is shared with the engine, whose
 * word on it is never trusted for more than its own bytes. One thread, the device's mover.
 */
public interface SlotBoard {
  /** Blocks of one work at most. */
  int MAX_ENTRIES = 4096;

  /** Sums of one work at most: blocks times layers. */
  int MAX_SUMS = 65_536;

  /** What a posted slot has come to. */
  enum State {
    /** The engine is at it. */
    POSTED,
    /** Done, the sums are there. */
    DONE,
    /** The engine could not: {@link #failure} says why. */
    FAILED,
    /** The board says what no engine may write. */
    BROKEN
  }

  /**
   * What the engine is asked to do with a slot.
   *
   * @param operationId the publish or restore
   * @param groupId whose layers
   * @param scatter from the slot to pages; else from pages to the slot
   * @param firstLayer index of the first layer among the group's, ascending
   * @param layerCount how many layers from there
   * @param entryCount how many blocks, 1 to {@value #MAX_ENTRIES}
   * @param sums whether the partial sums are wanted
   */
  record Work(
      long operationId,
      int groupId,
      boolean scatter,
      int firstLayer,
      int layerCount,
      int entryCount,
      boolean sums) {}

  /**
   * Writes one block of the work that is posted next.
   *
   * @param slotOffset where its bytes begin in the slot, a multiple of 64
   */
  void entry(int slot, int index, int page, long slotOffset);

  /** Hands the slot over. The slot must be the Manager's. */
  void post(int slot, Work work);

  /** What the slot that was posted last has come to. */
  State poll(int slot);

  /** Why a slot is {@link State#FAILED} or {@link State#BROKEN}. */
  String failure(int slot);

  /**
   * A partial sum of a slot that is {@link State#DONE}.
   *
   * @param index block times the work's layers plus layer
   */
  long sum(int slot, int index);
}
