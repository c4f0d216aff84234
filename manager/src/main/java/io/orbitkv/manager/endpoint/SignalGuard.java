package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.NativeException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets free a thread that a client holds up. The eventfd that wakes a client is one open file of
 * both: a client can make it blocking and fill its counter, and the loop's next write waits until
 * somebody reads. This thread looks for writes that do not end, reads the counter, and the session
 * is closed as a violation of the protocol.
 *
 * <p>A write that lasts from one look to the next is only suspicious, the thread may not have had
 * its turn; it is held up if the counter is full as well, which no honest client brings about.
 */
final class SignalGuard implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SignalGuard.class);
  private static final long LOOK_MILLIS = 20;

  /** A client that fills the counter again and again is read as often, up to here in a look. */
  private static final int READS = 1_000;

  private static final long NOT_SIGNALLING = -1;

  /** Signals that had ended at the last look, or that none was being written. */
  private final Map<GuardedSignal, Long> watched = new HashMap<>();

  private final Thread thread;
  private boolean stopping;

  SignalGuard() {
    thread = Thread.ofPlatform().daemon().name("signal-guard").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  synchronized void watch(GuardedSignal signal) {
    watched.put(signal, NOT_SIGNALLING);
    notifyAll();
  }

  /** Called before its descriptors are closed. */
  synchronized void forget(GuardedSignal signal) {
    watched.remove(signal);
  }

  private void run() {
    try {
      while (look()) {
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** One look at every session; false when there will be no more. */
  private synchronized boolean look() throws InterruptedException {
    while (watched.isEmpty() && !stopping) {
      wait();
    }
    for (Map.Entry<GuardedSignal, Long> entry : watched.entrySet()) {
      GuardedSignal signal = entry.getKey();
      long ended = signal.signalsEnded();
      boolean signalling = signal.signalling();
      if (signalling && entry.getValue() == ended) {
        release(signal, ended);
      }
      entry.setValue(signalling ? ended : NOT_SIGNALLING);
    }
    return !stopping;
  }

  private static void release(GuardedSignal signal, long ended) {
    try {
      for (int i = 0; i < READS && signal.signalsEnded() == ended && signal.release(); i++) {
        Thread.onSpinWait();
      }
    } catch (NativeException failed) {
      LOG.error("a client holds up the loop and cannot be stopped: {}", failed.getMessage());
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      stopping = true;
      notifyAll();
    }
    try {
      if (thread.isAlive() && !thread.join(Duration.ofSeconds(1))) {
        LOG.warn("the signal guard did not end within 1 s");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
