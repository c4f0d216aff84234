package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An eventfd by which threads of the Manager wake a client, watched by the {@link SignalGuard}: a
 * client that fills its counter holds nobody up, and is not signalled any more.
 */
final class GuardedSignal implements AutoCloseable {
  private final EventFd eventFd;
  private final SignalGuard guard;
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private volatile boolean heldUp;

  private GuardedSignal(EventFd eventFd, SignalGuard guard) {
    this.eventFd = eventFd;
    this.guard = guard;
  }

  /**
   * @throws NativeException EMFILE or ENFILE
   */
  static GuardedSignal create(SignalGuard guard) throws NativeException {
    GuardedSignal made = new GuardedSignal(EventFd.create(), guard);
    guard.watch(made);
    return made;
  }

  /** Wakes the client, unless it held up a thread before. Any thread. */
  void signal() throws NativeException {
    if (heldUp) {
      return;
    }
    begun.getAndIncrement();
    try {
      eventFd.signal();
    } finally {
      ended.getAndIncrement();
    }
  }

  /** Whether the client held up a thread that signalled it. */
  boolean heldUp() {
    return heldUp;
  }

  OwnedFd descriptor() {
    return eventFd.descriptor();
  }

  /** How many signals were written. */
  long signalsEnded() {
    return ended.get();
  }

  /** Whether somebody is writing a signal, perhaps in vain. */
  boolean signalling() {
    long endedBefore = ended.get();
    return begun.get() != endedBefore;
  }

  /**
   * Sets free whoever waits for the counter that the client filled.
   *
   * @return whether it was full
   */
  boolean release() throws NativeException {
    if (!eventFd.isFull()) {
      return false;
    }
    heldUp = true;
    eventFd.drainNoWait();
    return true;
  }

  @Override
  public void close() {
    guard.forget(this);
    eventFd.close();
  }
}
