package io.orbitkv.core;

import io.orbitkv.state.HostState;
import java.util.function.IntPredicate;
import org.agrona.collections.IntArrayList;

/**
 * Slots of blocks in the order in which their blocks were used, as far as the journal tells: the
 * one that was leased least lately comes first, and of those in one lease the one with the lowest
 * id.
 */
final class SlotsByUse {
  private SlotsByUse() {}

  /** Walks all blocks. */
  static int[] of(HostState state, IntPredicate wanted) {
    IntArrayList found = new IntArrayList();
    state.forEachBlock(
        slot -> {
          if (wanted.test(slot)) {
            found.addInt(slot);
          }
        });
    int[] slots = found.toIntArray();
    long[] used = new long[slots.length];
    for (int i = 0; i < slots.length; i++) {
      used[i] = state.usedAtPosition(slots[i]);
    }
    return sorted(slots, used);
  }

  /** A stable merge from runs of one upwards: a million boxed numbers would take a second. */
  private static int[] sorted(int[] slots, long[] keys) {
    int[] from = slots;
    int[] into = new int[slots.length];
    long[] fromKeys = keys;
    long[] intoKeys = new long[keys.length];
    for (int run = 1; run < slots.length; run *= 2) {
      for (int start = 0; start < slots.length; start += 2 * run) {
        int left = start;
        int middle = Math.min(start + run, slots.length);
        int right = middle;
        int end = Math.min(middle + run, slots.length);
        for (int at = start; at < end; at++) {
          boolean takeLeft = left < middle && (right == end || fromKeys[left] <= fromKeys[right]);
          int taken = takeLeft ? left++ : right++;
          into[at] = from[taken];
          intoKeys[at] = fromKeys[taken];
        }
      }
      int[] slotsBefore = from;
      from = into;
      into = slotsBefore;
      long[] keysBefore = fromKeys;
      fromKeys = intoKeys;
      intoKeys = keysBefore;
    }
    return from;
  }
}
