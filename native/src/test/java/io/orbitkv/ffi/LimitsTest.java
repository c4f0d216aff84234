package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What happens at the limits of the process, and when a call is interrupted. */
class LimitsTest {
  @Test
  void shouldCloseWhatArrivedWhenThisProcessRanOutOfDescriptors() throws Throwable {
    List<UnixSocket> pair = UnixSocket.pair();
    try (UnixSocket left = pair.getFirst();
        UnixSocket right = pair.getLast();
        EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      OwnedFd fd = event.descriptor();
      left.send(arena.allocate(3), List.of(fd, fd, fd, fd));
      long before = OpenFiles.count();
      Received received = withRoomForOneDescriptor(() -> right.receive(arena.allocate(3), 4));
      assertEquals(3, assertInstanceOf(Received.DescriptorsLost.class, received).bytes());
      assertEquals(before, OpenFiles.count());
    }
  }

  @Test
  void shouldReportThatAcceptRanOutOfDescriptorsAndAcceptLater() throws Throwable {
    String path = "/tmp/orbitkv-limits-" + ProcessHandle.current().pid() + ".sock";
    try (UnixListener listener = UnixListener.listen(path, 0600, 8);
        UnixSocket first = UnixSocket.connect(path, 1_000_000_000L);
        UnixSocket second = UnixSocket.connect(path, 1_000_000_000L)) {
      NativeException thrown =
          assertThrows(
              NativeException.class,
              () ->
                  withRoomForOneDescriptor(
                      () -> {
                        try (UnixSocket accepted = listener.accept().orElseThrow()) {
                          assertTrue(accepted.descriptor().isOpen());
                          return listener.accept();
                        }
                      }));
      assertEquals(Errno.EMFILE, thrown.errno());
      Optional<UnixSocket> waiting = listener.accept();
      assertTrue(waiting.isPresent());
      waiting.get().close();
      assertTrue(first.descriptor().isOpen());
      assertTrue(second.descriptor().isOpen());
    }
  }

  @Test
  void shouldFallBackFromLockingAndNameTheLimit() throws Throwable {
    ResourceLimit limit = ResourceLimit.lockedMemory();
    Limits.set(Limits.LOCKED_MEMORY, new ResourceLimit(65_536, limit.hard()));
    try {
      MappingReport report =
          onAThread(
              () -> {
                Limits.dropLockCapability();
                MapOptions options = MapOptions.READ_WRITE.withLock(true);
                try (Mapping mapping = Mapping.anonymous(1 << 20, options)) {
                  return mapping.report();
                }
              });
      assertFalse(report.locked());
      assertEquals(
          "1048576 bytes of locked memory: got memory that may be swapped out, because mlock failed"
              + " with ENOMEM, RLIMIT_MEMLOCK is 65536; raise it with ulimit -l,"
              + " LimitMEMLOCK=infinity or docker --ulimit memlock=-1",
          report.shortfalls().getFirst().toString());
      assertTrue(report.describe().startsWith("1048576 bytes in ordinary pages"));
    } finally {
      Limits.set(Limits.LOCKED_MEMORY, limit);
    }
  }

  @Test
  void shouldGoOnWaitingWhenInterrupted() throws Throwable {
    long nanos = TimeUnit.MILLISECONDS.toNanos(60);
    try (Epoll epoll = Epoll.create();
        EventFd event = EventFd.create()) {
      EpollEvents events = new EpollEvents(1);
      epoll.add(event.descriptor(), Epoll.IN, 1);
      assertInterruptedWaitTakes(nanos, () -> event.await(nanos));
      assertInterruptedWaitTakes(nanos, () -> epoll.await(events, nanos) != 0);
      assertInterruptedWaitTakes(nanos + 1, () -> epoll.await(events, nanos + 1) != 0);
    }
  }

  @Test
  void shouldLeaveASignalThatAPeerMadeBlockingWhenDrained() throws Exception {
    try (EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      int fd = event.descriptor().fd();
      FileCalls.write(fd, arena.allocateFrom(ValueLayout.JAVA_LONG, -2), 8);
      assertEquals(0, FileCalls.fcntl(fd, FileCalls.F_SETFL, 0));
      FutureTask<Boolean> signal =
          new FutureTask<>(
              () -> {
                event.signal();
                return true;
              });
      Thread thread = Thread.ofPlatform().start(signal);
      assertThrows(TimeoutException.class, () -> signal.get(50, TimeUnit.MILLISECONDS));
      assertEquals(-2, event.drain());
      assertTrue(signal.get(10, TimeUnit.SECONDS));
      thread.join();
    }
  }

  private static void assertInterruptedWaitTakes(long nanos, Callable<Boolean> wait)
      throws Throwable {
    AtomicLong threadId = new AtomicLong();
    FutureTask<Boolean> task =
        new FutureTask<>(
            () -> {
              threadId.set(threadIdUnchecked());
              long start = System.nanoTime();
              assertFalse(wait.call());
              return System.nanoTime() - start >= nanos;
            });
    Thread thread = Thread.ofPlatform().start(task);
    while (!task.isDone()) {
      if (threadId.get() != 0 && thread.isAlive()) {
        try {
          Limits.interruptSystemCall(threadId.get());
        } catch (NativeException gone) {
          assertEquals(Errno.ESRCH, gone.errno());
        }
      }
      Thread.sleep(5);
    }
    assertTrue(task.get());
  }

  private static long threadIdUnchecked() throws IOException {
    try {
      return Limits.threadId();
    } catch (Throwable thrown) {
      throw new IOException(thrown);
    }
  }

  /** The lowest free number is the only one that may be given out. */
  private static <T> T withRoomForOneDescriptor(Callable<T> body) throws Throwable {
    ResourceLimit limit = ResourceLimit.openFiles();
    OwnedFd lowest = EventFd.create().descriptor();
    int number = lowest.fd();
    lowest.close();
    Limits.set(Limits.OPEN_FILES, new ResourceLimit(number + 1, limit.hard()));
    try {
      return body.call();
    } finally {
      Limits.set(Limits.OPEN_FILES, limit);
    }
  }

  private interface Body<T> {
    T run() throws Throwable;
  }

  private static <T> T onAThread(Body<T> body) throws Exception {
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              try {
                return body.run();
              } catch (Throwable thrown) {
                throw new AssertionError(thrown);
              }
            });
    Thread.ofPlatform().start(task);
    return task.get();
  }
}
