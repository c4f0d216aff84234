package io.orbitkv.core.ssd.device;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells a thread that is about to sleep that it was woken meanwhile, and a waking thread whether
 * there is a sleeper to rouse, so that waking one that is awake costs no system call.
 */
final class WakeFlag {
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;
  private static final int WOKEN = 2;

  private final AtomicInteger state = new AtomicInteger(AWAKE);

  /** For the owner: whether it may sleep. If not, it was woken since it slept last. */
  boolean beginSleep() {
    if (state.compareAndSet(AWAKE, ASLEEP)) {
      return true;
    }
    state.set(AWAKE);
    return false;
  }

  /** For the owner, when it no longer sleeps. */
  void endSleep() {
    state.set(AWAKE);
  }

  /** For anybody: whether the owner sleeps and has to be roused. */
  boolean wake() {
    return state.get() != WOKEN && state.getAndSet(WOKEN) == ASLEEP;
  }
}
