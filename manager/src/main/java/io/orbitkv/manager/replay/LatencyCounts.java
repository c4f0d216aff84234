package io.orbitkv.manager.replay;

import org.jspecify.annotations.Nullable;

/**
 * Counts of durations in steps of an eighth of an octave, so that any quantile is within 9 %; it
 * takes no memory until the first duration comes.
 */
final class LatencyCounts {
  private static final int STEPS_PER_OCTAVE = 8;
  private static final int STEPS = 40 * STEPS_PER_OCTAVE;

  private int @Nullable [] counts;
  private long total;

  void add(long micros) {
    int[] mine = counts();
    double octaves = Math.log((double) Math.max(1, micros)) / Math.log(2);
    mine[Math.min(STEPS - 1, (int) Math.round(octaves * STEPS_PER_OCTAVE))]++;
    total++;
  }

  private int[] counts() {
    int[] mine = counts;
    if (mine == null) {
      mine = new int[STEPS];
      counts = mine;
    }
    return mine;
  }

  void add(LatencyCounts other) {
    if (other.counts != null) {
      int[] mine = counts();
      for (int i = 0; i < STEPS; i++) {
        mine[i] += other.counts[i];
      }
      total += other.total;
    }
  }

  long total() {
    return total;
  }

  /** The duration that a share of all does not exceed, microseconds; NaN when there is none. */
  double quantile(double share) {
    int[] mine = counts;
    if (mine == null) {
      return Double.NaN;
    }
    long left = Math.max(1, (long) Math.ceil(share * total));
    for (int i = 0; i < STEPS; i++) {
      left -= mine[i];
      if (left <= 0) {
        return Math.pow(2, (double) i / STEPS_PER_OCTAVE);
      }
    }
    throw new IllegalStateException("counts do not add up to " + total);
  }
}
