package io.orbitkv.core.eviction;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Least recently used first: a doubly linked list through two arrays indexed by slot, 8 bytes a
 * block.
 */
public final class LruPolicy implements EvictionPolicy {
  private static final int END = -1;
  private static final int ABSENT = -2;

  /** Towards the cold end; {@link #ABSENT} for a slot that is not in the list. */
  private int[] colder = new int[1024];

  private int[] hotter = new int[1024];
  private int coldest = END;
  private int hottest = END;
  private int size;

  public LruPolicy() {
    Arrays.fill(colder, ABSENT);
  }

  @Override
  public void entered(int slot, long keyHash) {
    ensure(slot);
    if (colder[slot] != ABSENT) {
      throw new IllegalStateException("slot " + slot + " is in the list already");
    }
    linkHottest(slot);
    size++;
  }

  @Override
  public void touched(int slot) {
    if (!holds(slot) || slot == hottest) {
      return;
    }
    unlink(slot);
    linkHottest(slot);
  }

  @Override
  public void removed(int slot) {
    if (holds(slot)) {
      unlink(slot);
      colder[slot] = ABSENT;
      size--;
    }
  }

  @Override
  public int takeVictim(IntPredicate mayGo) {
    for (int slot = coldest; slot != END; slot = hotter[slot]) {
      if (mayGo.test(slot)) {
        removed(slot);
        return slot;
      }
    }
    return -1;
  }

  @Override
  public void putBack(int slot, long keyHash) {
    ensure(slot);
    colder[slot] = END;
    hotter[slot] = coldest;
    if (coldest == END) {
      hottest = slot;
    } else {
      colder[coldest] = slot;
    }
    coldest = slot;
    size++;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public String name() {
    return "lru";
  }

  private boolean holds(int slot) {
    return slot < colder.length && colder[slot] != ABSENT;
  }

  private void linkHottest(int slot) {
    colder[slot] = hottest;
    hotter[slot] = END;
    if (hottest == END) {
      coldest = slot;
    } else {
      hotter[hottest] = slot;
    }
    hottest = slot;
  }

  private void unlink(int slot) {
    int below = colder[slot];
    int above = hotter[slot];
    if (below == END) {
      coldest = above;
    } else {
      hotter[below] = above;
    }
    if (above == END) {
      hottest = below;
    } else {
      colder[above] = below;
    }
  }

  private void ensure(int slot) {
    if (slot >= colder.length) {
      int old = colder.length;
      int grown = Math.max(slot + 1, old * 3 / 2);
      colder = Arrays.copyOf(colder, grown);
      hotter = Arrays.copyOf(hotter, grown);
      Arrays.fill(colder, old, grown, ABSENT);
    }
  }
}
