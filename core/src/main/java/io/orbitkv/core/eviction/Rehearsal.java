package io.orbitkv.core.eviction;

import java.util.Arrays;
import org.agrona.collections.Int2IntHashMap;

/**
 * What a window of one size would hit: a cache of keys without bytes, to scale, that is shown a
 * sample of the keys.
 */
final class Rehearsal {
  private static final int ABSENT = -1;

  private final TwoRegions keys;
  private final Int2IntHashMap slotByKey = new Int2IntHashMap(ABSENT);
  private int[] freeSlots = new int[64];
  private int freeCount;
  private int usedSlots;
  private int capacity = 1;
  private double hits;

  Rehearsal(FrequencySketch sketch, double windowShare) {
    keys = new TwoRegions(sketch, windowShare, 64);
  }

  double windowShare() {
    return keys.windowShare();
  }

  /** Hits; those of long ago count for less. */
  double hits() {
    return hits;
  }

  /** Lets the hits so far count for less. */
  void fade(double factor) {
    hits *= factor;
  }

  /** Makes room for so many keys, at least one, and drops what is too much. */
  void resize(int most) {
    capacity = Math.max(1, most);
    shrinkTo(capacity);
  }

  /** A key of the sample was asked for or came. */
  void reference(int keyHash) {
    int slot = slotByKey.get(keyHash);
    if (slot != ABSENT) {
      hits++;
      keys.touch(slot);
      return;
    }
    shrinkTo(capacity - 1);
    slot = freeCount > 0 ? freeSlots[--freeCount] : usedSlots++;
    slotByKey.put(keyHash, slot);
    keys.enter(slot, keyHash);
  }

  private void shrinkTo(int most) {
    while (keys.size() > most) {
      int victim = keys.takeVictim(any -> true);
      slotByKey.remove(keys.keyHash(victim));
      if (freeCount == freeSlots.length) {
        freeSlots = Arrays.copyOf(freeSlots, 2 * freeCount);
      }
      freeSlots[freeCount++] = victim;
    }
  }
}
