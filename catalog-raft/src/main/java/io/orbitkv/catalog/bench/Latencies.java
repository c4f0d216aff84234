package io.orbitkv.catalog.bench;

import java.util.Arrays;

/**
 * Latencies in microseconds.
 *
 * @param count how many were measured
 * @param p50 the median
 * @param p99 that of the slowest hundredth
 * @param p999 that of the slowest thousandth
 * @param max the slowest
 */
public record Latencies(int count, double p50, double p99, double p999, double max) {

  /** Of the first {@code count} values, in nanoseconds, which are sorted in place. */
  static Latencies of(long[] nanos, int count) {
    if (count == 0) {
      return new Latencies(0, 0, 0, 0, 0);
    }
    Arrays.sort(nanos, 0, count);
    return new Latencies(
        count,
        at(nanos, count, 0.5),
        at(nanos, count, 0.99),
        at(nanos, count, 0.999),
        nanos[count - 1] / 1000.0);
  }

  private static double at(long[] sorted, int count, double share) {
    return sorted[Math.min(count - 1, (int) (count * share))] / 1000.0;
  }

  /** One line for people. */
  @Override
  public String toString() {
    return "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us (%d)"
        .formatted(p50, p99, p999, max, count);
  }
}
