package io.orbitkv.core.ssd.device;

import java.util.Arrays;

/** The places of operations in flight, each with its token. */
final class Slots {
  private static final int SHOWN = 16;

  private final long[] tokens;
  private final boolean[] taken;
  private final int[] free;
  private int freeCount;

  Slots(int depth) {
    tokens = new long[depth];
    taken = new boolean[depth];
    free = new int[depth];
    for (int slot = depth - 1; slot >= 0; slot--) {
      free[freeCount++] = slot;
    }
  }

  int depth() {
    return tokens.length;
  }

  int inFlight() {
    return tokens.length - freeCount;
  }

  /** A place for an operation, -1 if all are taken. */
  int take(long token) {
    if (freeCount == 0) {
      return -1;
    }
    int slot = free[--freeCount];
    tokens[slot] = token;
    taken[slot] = true;
    return slot;
  }

  /** Frees a place and returns its token. */
  long release(int slot) {
    if (slot < 0 || slot >= taken.length || !taken[slot]) {
      throw new IllegalStateException("an operation ended that was not in flight: " + slot);
    }
    taken[slot] = false;
    free[freeCount++] = slot;
    return tokens[slot];
  }

  /** How many operations are in flight and the tokens of some of them. */
  String describe() {
    long[] held = new long[inFlight()];
    int count = 0;
    for (int slot = 0; slot < taken.length; slot++) {
      if (taken[slot]) {
        held[count++] = tokens[slot];
      }
    }
    return held.length
        + " operations in flight, tokens "
        + Arrays.toString(Arrays.copyOf(held, Math.min(SHOWN, held.length)))
        + (held.length > SHOWN ? " and more" : "");
  }
}
