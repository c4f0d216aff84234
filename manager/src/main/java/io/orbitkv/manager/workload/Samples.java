package io.orbitkv.manager.workload;

import java.util.Arrays;

/**
 * Measured durations in nanoseconds, all of them kept, so that a percentile is one of the values
 * and not an estimate. Not thread-safe.
 */
public final class Samples {
  private long[] nanos = new long[1024];
  private int count;
  private boolean sorted = true;

  public void add(long value) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = value;
    sorted = false;
  }

  /** Forgets everything; the memory stays. */
  public void clear() {
    count = 0;
    sorted = true;
  }

  public int count() {
    return count;
  }

  /** The sum of all. */
  public long totalNanos() {
    long total = 0;
    for (int i = 0; i < count; i++) {
      total += nanos[i];
    }
    return total;
  }

  /**
   * The smallest value that at least {@code percent} of all do not exceed (nearest rank).
   *
   * @param percent above 0, at most 100
   * @return 0 if there are no values
   */
  public long percentileNanos(double percent) {
    if (percent <= 0 || percent > 100) {
      throw new IllegalArgumentException("a percentile is above 0 and at most 100, not " + percent);
    }
    if (count == 0) {
      return 0;
    }
    sort();
    // 99.9 / 100 * 1000 is 999.0000000000001, whose rank is 999.
    int rank = (int) Math.ceil(percent / 100 * count - 1e-9 * count);
    return nanos[Math.max(rank, 1) - 1];
  }

  /** The largest value, 0 if there are none. */
  public long maxNanos() {
    return percentileNanos(100);
  }

  private void sort() {
    if (!sorted) {
      Arrays.sort(nanos, 0, count);
      sorted = true;
    }
  }

  /** The middle one of some figures, the mean of the two middle ones of an even number of them. */
  public static double median(double... figures) {
    if (figures.length == 0) {
      throw new IllegalArgumentException("no figures have no median");
    }
    double[] ordered = figures.clone();
    Arrays.sort(ordered);
    int middle = ordered.length / 2;
    return ordered.length % 2 == 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
  }
}
