package io.orbitkv.catalog.calls;

import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Keeps a host that does not answer from being asked again and again.
 *
 * <p>Closed, every call may go. After so many failures in a row it opens, and no call goes until a
 * wait, which doubles with each opening, is over. Then it is half open: one call goes as a probe,
 * and its outcome closes the breaker or opens it again. Safe for many threads.
 */
public final class CircuitBreaker {
  /** What the breaker lets through. */
  public enum State {
    /** Every call. */
    CLOSED,
    /** No call. */
    OPEN,
    /** One call. */
    HALF_OPEN
  }

  private final int failuresToOpen;
  private final Backoff waits;
  private final LongSupplier clock;
  private State state = State.CLOSED;
  private int failures;
  private long probeAt;
  private boolean probing;
  private long openings;

  /**
   * A closed breaker.
   *
   * @param failuresToOpen failures in a row that open it, at least 1
   * @param firstWaitMillis the first wait
   * @param longestWaitMillis the longest wait
   * @param random where the jitter of the waits comes from
   * @param clock nanoseconds that never fall
   */
  public CircuitBreaker(
      int failuresToOpen,
      long firstWaitMillis,
      long longestWaitMillis,
      RandomGenerator random,
      LongSupplier clock) {
    this.failuresToOpen = failuresToOpen;
    this.waits = new Backoff(firstWaitMillis, longestWaitMillis, random);
    this.clock = clock;
  }

  /** Whether a call may go; its outcome has to be told by one of the other methods. */
  public synchronized boolean tryCall() {
    return switch (state) {
      case CLOSED -> true;
      case OPEN -> {
        if (clock.getAsLong() - probeAt < 0) {
          yield false;
        }
        state = State.HALF_OPEN;
        probing = true;
        yield true;
      }
      case HALF_OPEN -> {
        boolean mine = !probing;
        probing = true;
        yield mine;
      }
    };
  }

  /** The host answered, whatever it said. */
  public synchronized void answered() {
    failures = 0;
    probing = false;
    if (state != State.CLOSED) {
      state = State.CLOSED;
      waits.reset();
    }
  }

  /** The host could not be reached or was silent. */
  public synchronized void failed() {
    failures++;
    if (state == State.HALF_OPEN || (state == State.CLOSED && failures >= failuresToOpen)) {
      state = State.OPEN;
      openings++;
      probeAt = clock.getAsLong() + waits.nextNanos();
    }
    probing = false;
  }

  /** The call ended without showing anything about the host: it was given up here. */
  public synchronized void abandoned() {
    probing = false;
  }

  /** What it lets through now. */
  public synchronized State state() {
    return state;
  }

  /** How often it opened. */
  public synchronized long openings() {
    return openings;
  }
}
