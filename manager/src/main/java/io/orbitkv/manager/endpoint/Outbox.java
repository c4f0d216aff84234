package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import java.io.UncheckedIOException;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * What the loop asks of the control thread: answers on sockets, closed sessions, memory to unmap.
 * Each connection has at most one request and one session at a time, so the number of tasks is
 * bounded by that of connections; a full outbox is a broken invariant.
 */
final class Outbox implements AutoCloseable {
  private final ManyToOneConcurrentArrayQueue<Runnable> tasks;
  private final EventFd wake;

  Outbox(int capacity) throws NativeException {
    this.tasks = new ManyToOneConcurrentArrayQueue<>(capacity);
    this.wake = EventFd.create();
  }

  /** Has the control thread run something; from any thread. */
  void post(Runnable task) {
    if (!tasks.offer(task)) {
      throw new IllegalStateException("the control thread has " + tasks.size() + " tasks waiting");
    }
    wakeUp();
  }

  void wakeUp() {
    try {
      wake.signal();
    } catch (NativeException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  OwnedFd descriptor() {
    return wake.descriptor();
  }

  /** Runs what waits; control thread. */
  void run() throws NativeException {
    wake.drain();
    for (Runnable task; (task = tasks.poll()) != null; ) {
      task.run();
    }
  }

  @Override
  public void close() {
    wake.close();
  }
}
