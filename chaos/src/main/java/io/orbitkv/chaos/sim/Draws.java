package io.orbitkv.chaos.sim;

import java.util.List;

/** Numbers drawn from one seed; the same on every machine (SplitMix64). */
final class Draws {
  private long state;

  Draws(long seed) {
    state = seed;
  }

  long next() {
    state += 0x9E37_79B9_7F4A_7C15L;
    return mix(state);
  }

  /** A number from 0 to {@code bound - 1}. */
  int below(int bound) {
    return (int) ((next() >>> 33) % bound);
  }

  /** A number from {@code low} to {@code high}, both possible. */
  int between(int low, int high) {
    return low + below(high - low + 1);
  }

  /** True once in {@code times} on average. */
  boolean oneIn(int times) {
    return below(times) == 0;
  }

  <T> T pick(List<T> list) {
    return list.get(below(list.size()));
  }

  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
  }
}
