package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.Epoll;
import io.orbitkv.ffi.EpollEvents;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import java.util.function.LongConsumer;

/**
 * The doorbells of all sessions, and one of the daemon's own, in one epoll set. They are edge
 * triggered and never read: each ring is one event, whoever else holds the descriptor.
 */
final class Doorbells implements AutoCloseable {
  private static final long WAKE = 0;
  private static final int EVENTS = 256;

  private final Epoll epoll;
  private final EventFd wake;
  private final EpollEvents events = new EpollEvents(EVENTS);

  private Doorbells(Epoll epoll, EventFd wake) {
    this.epoll = epoll;
    this.wake = wake;
  }

  static Doorbells create() throws NativeException {
    Epoll epoll = Epoll.create();
    EventFd wake = EventFd.create();
    epoll.add(wake.descriptor(), Epoll.IN | Epoll.ET, WAKE);
    return new Doorbells(epoll, wake);
  }

  /**
   * @param sessionId given to the consumer of {@link #await} when it rings; above 0
   */
  void add(EventFd doorbell, long sessionId) throws NativeException {
    epoll.add(doorbell.descriptor(), Epoll.IN | Epoll.ET, sessionId);
  }

  void remove(EventFd doorbell) throws NativeException {
    epoll.remove(doorbell.descriptor());
  }

  /** Ends an {@link #await}, the present or the next; from any thread. */
  void wake() throws NativeException {
    wake.signal();
  }

  /**
   * Waits until something rings, and names every session that did.
   *
   * @param nanos how long at most; 0 only looks
   */
  void await(long nanos, LongConsumer rang) throws NativeException {
    int count = epoll.await(events, nanos);
    for (int i = 0; i < count; i++) {
      long sessionId = events.data(i);
      if (sessionId != WAKE) {
        rang.accept(sessionId);
      }
    }
  }

  @Override
  public void close() {
    epoll.close();
    wake.close();
  }
}
