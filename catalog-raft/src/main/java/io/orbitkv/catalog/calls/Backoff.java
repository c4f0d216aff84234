package io.orbitkv.catalog.calls;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * The waits between tries: they double from the first to the longest and are drawn between half and
 * the whole of that, so that hosts which lost the same peer do not come back together. Belongs to
 * one thread.
 */
public final class Backoff {
  private final long firstNanos;
  private final long longestNanos;
  private final RandomGenerator random;
  private long nextNanos;

  /**
   * A new series of waits.
   *
   * @param firstMillis the first wait, at least 1
   * @param longestMillis the longest wait
   * @param random where the jitter comes from
   */
  public Backoff(long firstMillis, long longestMillis, RandomGenerator random) {
    if (firstMillis < 1 || longestMillis < firstMillis) {
      throw new IllegalArgumentException("back-off " + firstMillis + " to " + longestMillis);
    }
    this.firstNanos = TimeUnit.MILLISECONDS.toNanos(firstMillis);
    this.longestNanos = TimeUnit.MILLISECONDS.toNanos(longestMillis);
    this.random = random;
    this.nextNanos = firstNanos;
  }

  /** The wait before the next try, in nanoseconds. */
  public long nextNanos() {
    long whole = nextNanos;
    nextNanos = Math.min(longestNanos, whole * 2);
    return whole / 2 + random.nextLong(whole / 2 + 1);
  }

  /** Begins again after a success. */
  public void reset() {
    nextNanos = firstNanos;
  }
}
