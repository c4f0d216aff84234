package io.orbitkv.manager.workload;

/** The finalizer of SplitMix64: spreads consecutive numbers over all 64-bit values, one to one. */
final class Mixing {
  private Mixing() {}

  static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
