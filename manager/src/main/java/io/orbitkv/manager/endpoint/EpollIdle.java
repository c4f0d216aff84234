package io.orbitkv.manager.endpoint;

import io.orbitkv.core.Idle;
import io.orbitkv.ffi.NativeException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How the loop rests. After traffic it looks again for some microseconds, because waking a sleeping
 * thread costs more than most requests; then it sleeps until a doorbell rings, another thread wakes
 * it, or a timer is due.
 *
 * <p>The looking adapts: after {@value #MISSES_TO_DOUBT} times in vain in a row it is tried only
 * every {@value #RETRY_EVERY}th time, so that a slow trickle of requests does not burn a core.
 *
 * <p>It also flushes what a duty cycle left to be signalled, and keeps the heartbeat and the loop's
 * share of busy time.
 */
public final class EpollIdle implements Idle {
  private static final int MISSES_TO_DOUBT = 8;
  private static final int RETRY_EVERY = 16;

  /** So that the heartbeat goes on when nothing happens. */
  private static final long LONGEST_SLEEP_NANOS = 250_000_000;

  /** A session waits for its client to read answers, which rings nothing. */
  private static final long BLOCKED_SLEEP_NANOS = 500_000;

  private final Doorbells doorbells;
  private final ChannelPoller poller;
  private final long spinNanos;

  private volatile boolean sleeping;
  private volatile boolean woken;
  private volatile long heartbeatNanos = System.nanoTime();
  private final AtomicLong sleptNanos = new AtomicLong();
  private final AtomicLong cycles = new AtomicLong();

  private boolean spinning;
  private int spinsInVain;
  private int declined;

  /** The traffic after which was decided whether to spin. */
  private long decidedFor;

  /**
   * @param spinNanos how long to look again after traffic; 0 never
   */
  EpollIdle(Doorbells doorbells, ChannelPoller poller, long spinNanos) {
    this.doorbells = doorbells;
    this.poller = poller;
    this.spinNanos = spinNanos;
  }

  @Override
  public void idle(int workCount, long maxNanos) {
    try {
      poller.flush();
      long now = System.nanoTime();
      heartbeatNanos = now;
      cycles.setRelease(cycles.getPlain() + 1);
      if (workCount > 0) {
        if (spinning && poller.lastTrafficNanos() != decidedFor) {
          spinsInVain = 0;
        }
        return;
      }
      if (spin(now)) {
        Thread.onSpinWait();
        return;
      }
      if (poller.somethingToTake()) {
        return;
      }
      sleep(now, maxNanos);
    } catch (NativeException broken) {
      throw new UncheckedIOException("the loop cannot wait for its doorbells", broken);
    }
  }

  @Override
  public void wake() {
    woken = true;
    if (sleeping) {
      try {
        doorbells.wake();
      } catch (NativeException broken) {
        throw new UncheckedIOException(broken);
      }
    }
  }

  /** When a duty cycle last ended, of {@link System#nanoTime}; any thread. */
  public long heartbeatNanos() {
    return heartbeatNanos;
  }

  /** Time spent asleep since the start; any thread. */
  public long sleptNanos() {
    return sleptNanos.get();
  }

  /** Duty cycles since the start; any thread. */
  public long cycles() {
    return cycles.get();
  }

  private boolean spin(long now) {
    long traffic = poller.lastTrafficNanos();
    if (now - traffic >= spinNanos) {
      if (spinning) {
        spinning = false;
        spinsInVain++;
      }
      return false;
    }
    if (traffic != decidedFor) {
      decidedFor = traffic;
      spinning = spinsInVain < MISSES_TO_DOUBT || ++declined % RETRY_EVERY == 0;
    }
    return spinning;
  }

  private void sleep(long now, long maxNanos) throws NativeException {
    long longest = poller.blocked() ? BLOCKED_SLEEP_NANOS : LONGEST_SLEEP_NANOS;
    sleeping = true;
    // Whoever set the flag before this thread announced its sleep is seen here; later ones ring.
    if (!woken) {
      doorbells.await(Math.min(maxNanos, longest), poller);
      long after = System.nanoTime();
      sleptNanos.setRelease(sleptNanos.getPlain() + after - now);
      heartbeatNanos = after;
    } else {
      doorbells.await(0, poller);
    }
    sleeping = false;
    woken = false;
  }
}
