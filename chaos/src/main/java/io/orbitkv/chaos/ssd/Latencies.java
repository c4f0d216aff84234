package io.orbitkv.chaos.ssd;

import java.util.ArrayList;
import java.util.List;

/** How long queries took in windows of one kind. Not thread-safe. */
final class Latencies {
  private static final double P99 = 0.99;

  private final List<long[]> windows = new ArrayList<>();

  void add(long[] nanos) {
    windows.add(nanos);
  }

  int count() {
    return windows.stream().mapToInt(each -> each.length).sum();
  }

  /** In microseconds. */
  double p99Micros() {
    long[] sorted = windows.stream().flatMapToLong(java.util.Arrays::stream).sorted().toArray();
    return sorted.length == 0 ? 0 : sorted[(int) (P99 * (sorted.length - 1))] / 1_000.0;
  }
}
