package io.orbitkv.core.eviction;

import java.util.function.IntPredicate;

/** Least recently used first: one list, 8 bytes a block. */
public final class LruPolicy implements EvictionPolicy {
  /** From the coldest slot to the hottest. */
  private final SlotList slots = new SlotList();

  @Override
  public void entered(int slot, long keyHash) {
    if (!slots.addLast(slot)) {
      throw new IllegalStateException("slot " + slot + " is in the list already");
    }
  }

  @Override
  public boolean wantsKeyHash() {
    return false;
  }

  @Override
  public void touched(int slot) {
    if (slot != slots.last() && slots.remove(slot)) {
      slots.addLast(slot);
    }
  }

  @Override
  public void removed(int slot) {
    slots.remove(slot);
  }

  @Override
  public int takeVictim(IntPredicate mayGo) {
    for (int slot = slots.first(); slot != SlotList.END; slot = slots.next(slot)) {
      if (mayGo.test(slot)) {
        slots.remove(slot);
        return slot;
      }
    }
    return -1;
  }

  @Override
  public void putBack(int slot, long keyHash) {
    slots.addFirst(slot);
  }

  @Override
  public int size() {
    return slots.size();
  }

  @Override
  public String name() {
    return "lru";
  }
}
