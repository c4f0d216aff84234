package io.orbitkv.manager.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts durations in buckets of fixed bounds: 1, 2.5, 5, 10 ... microseconds to 10 seconds. One
 * thread records and allocates nothing; any thread reads.
 */
public final class LatencyHistogram {
  private static final long[] BOUNDS_NANOS = bounds();
  private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[BOUNDS_NANOS.length + 1];
  private volatile long sumNanos;

  /** Counts one duration. */
  public void record(long nanos) {
    int bucket = 0;
    while (bucket < BOUNDS_NANOS.length && nanos > BOUNDS_NANOS[bucket]) {
      bucket++;
    }
    COUNTS.setOpaque(counts, bucket, counts[bucket] + 1);
    SUM.setOpaque(this, sumNanos + nanos);
  }

  /** Upper bounds of the buckets but the last, which has none. */
  public static double[] boundsSeconds() {
    double[] seconds = new double[BOUNDS_NANOS.length];
    for (int i = 0; i < seconds.length; i++) {
      seconds[i] = BOUNDS_NANOS[i] / 1e9;
    }
    return seconds;
  }

  /** How many durations fell in each bucket, the last of which has no bound. */
  public long[] counts() {
    long[] copy = new long[counts.length];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = (long) COUNTS.getOpaque(counts, i);
    }
    return copy;
  }

  /** All durations together. */
  public double sumSeconds() {
    return sumNanos / 1e9;
  }

  private static long[] bounds() {
    long[] steps = new long[22];
    long decade = 1_000;
    for (int i = 0; i < steps.length; i++) {
      steps[i] =
          switch (i % 3) {
            case 0 -> decade;
            case 1 -> decade * 5 / 2;
            default -> decade * 5;
          };
      if (i % 3 == 2) {
        decade *= 10;
      }
    }
    return steps;
  }

  private static final VarHandle SUM;

  static {
    try {
      SUM = MethodHandles.lookup().findVarHandle(LatencyHistogram.class, "sumNanos", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }
}
