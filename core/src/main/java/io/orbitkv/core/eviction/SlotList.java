package io.orbitkv.core.eviction;

import java.util.Arrays;

/**
 * Slots in the order in which they were added, each at most once: a doubly linked list through two
 * arrays indexed by slot, 8 bytes for each slot of the table. Adding, removing and asking take
 * constant time.
 */
public final class SlotList {
  /** What {@link #first} and {@link #next} give behind the last slot. */
  public static final int END = -1;

  private static final int ABSENT = -2;
  private static final int[] NONE = {};

  private int[] before = NONE;
  private int[] after = NONE;
  private int first = END;
  private int last = END;
  private int size;

  /** Adds a slot behind the others; false if it is in the list already. */
  public boolean addLast(int slot) {
    if (contains(slot)) {
      return false;
    }
    ensure(slot);
    before[slot] = last;
    after[slot] = END;
    if (last == END) {
      first = slot;
    } else {
      after[last] = slot;
    }
    last = slot;
    size++;
    return true;
  }

  /** Adds a slot before the others; false if it is in the list already. */
  public boolean addFirst(int slot) {
    if (contains(slot)) {
      return false;
    }
    ensure(slot);
    before[slot] = END;
    after[slot] = first;
    if (first == END) {
      last = slot;
    } else {
      before[first] = slot;
    }
    first = slot;
    size++;
    return true;
  }

  /** Takes a slot out of the list; false if it is not in it. */
  public boolean remove(int slot) {
    if (!contains(slot)) {
      return false;
    }
    int left = before[slot];
    int right = after[slot];
    if (left == END) {
      first = right;
    } else {
      after[left] = right;
    }
    if (right == END) {
      last = left;
    } else {
      before[right] = left;
    }
    before[slot] = ABSENT;
    size--;
    return true;
  }

  public boolean contains(int slot) {
    return slot < before.length && before[slot] != ABSENT;
  }

  /** The slot that was added first, {@link #END} if there is none. */
  public int first() {
    return first;
  }

  /** The slot that was added last, {@link #END} if there is none. */
  public int last() {
    return last;
  }

  /** The slot behind one that is in the list, {@link #END} if it is the last. */
  public int next(int slot) {
    return after[slot];
  }

  public int size() {
    return size;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  private void ensure(int slot) {
    if (slot >= before.length) {
      int old = before.length;
      int grown = Math.max(Math.max(slot + 1, 1024), old * 3 / 2);
      before = Arrays.copyOf(before, grown);
      after = Arrays.copyOf(after, grown);
      Arrays.fill(before, old, grown, ABSENT);
    }
  }
}
