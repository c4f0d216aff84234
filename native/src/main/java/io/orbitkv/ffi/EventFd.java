package io.orbitkv.ffi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A counter in the kernel that another process can wait for: the doorbell of a ring. It never
 * blocks, except in {@link #await}.
 *
 * <p>A server that watches many doorbells of peers registers each with {@link Epoll#IN} and {@link
 * Epoll#ET} and never drains them: every signal is an event of its own, one system call is saved,
 * and a peer that makes the shared descriptor blocking cannot hold the server in a read. Such a
 * peer can still hold it in {@link #signal} by filling the counter as well, until anybody drains
 * it: a watchdog that finds the signalling thread stuck calls {@link #drainNoWait}.
 */
public final class EventFd implements AutoCloseable {
  private static final int EFD_SEMAPHORE = 0x1;
  private static final int EFD_NONBLOCK = 0x800;
  private static final int EFD_CLOEXEC = 0x80000;

  private final OwnedFd descriptor;

  private EventFd(OwnedFd descriptor) {
    this.descriptor = descriptor;
  }

  /** Creates one at 0, close-on-exec, whose {@link #drain} takes the whole count. */
  public static EventFd create() throws NativeException {
    return create(0);
  }

  /** Creates one at 0, close-on-exec, whose {@link #drain} takes 1 at a time. */
  public static EventFd createSemaphore() throws NativeException {
    return create(EFD_SEMAPHORE);
  }

  /**
   * Takes an eventfd that a peer sent, and makes it nonblocking.
   *
   * @throws NativeException EINVAL if it is something else, such as a pipe that would block; the
   *     descriptor then still belongs to the caller
   */
  public static EventFd adopt(OwnedFd descriptor) throws NativeException {
    int fd = descriptor.fd();
    String kind;
    try {
      kind = Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
    } catch (IOException unreadable) {
      throw new NativeException("readlink", Errno.EBADF, "fd " + fd);
    }
    if (!kind.equals("anon_inode:[eventfd]")) {
      throw new NativeException("eventfd", Errno.EINVAL, "fd " + fd + " is " + kind);
    }
    int flags =
        NativeException.check("fcntl", FileCalls.fcntl(fd, FileCalls.F_GETFL, 0), "F_GETFL");
    NativeException.verify(
        "fcntl", FileCalls.fcntl(fd, FileCalls.F_SETFL, flags | FileCalls.O_NONBLOCK), "F_SETFL");
    return new EventFd(descriptor);
  }

  /** Adds 1, which wakes whoever waits. A counter that is full is a signal already. */
  public void signal() throws NativeException {
    MemorySegment one = CallState.get().value;
    one.set(ValueLayout.JAVA_LONG, 0, 1);
    long result = FileCalls.write(descriptor.fd(), one, Long.BYTES);
    if (!wouldHaveBlocked(result)) {
      NativeException.verify("write", (int) result, descriptor);
    }
  }

  /** Takes the count, or 1 of a semaphore; 0 if there was none. */
  public long drain() throws NativeException {
    MemorySegment count = CallState.get().value;
    long result = FileCalls.read(descriptor.fd(), count, Long.BYTES);
    if (wouldHaveBlocked(result)) {
      return 0;
    }
    NativeException.verify("read", (int) result, descriptor);
    return count.get(ValueLayout.JAVA_LONG, 0);
  }

  /** Whether the counter is so full that {@link #signal} waits if a peer made it block. */
  public boolean isFull() throws NativeException {
    return NativeException.check(
            "ppoll", PollCalls.await(descriptor.fd(), PollCalls.POLLOUT, 0), descriptor)
        == 0;
  }

  /**
   * Like {@link #drain}, and does not wait even if a peer made the descriptor block.
   *
   * @throws NativeException EOPNOTSUPP before Linux 5.8
   */
  public long drainNoWait() throws NativeException {
    MemorySegment count = CallState.get().value;
    long result = FileCalls.readNoWait(descriptor.fd(), count, Long.BYTES);
    if (wouldHaveBlocked(result)) {
      return 0;
    }
    NativeException.verify("preadv2", (int) result, descriptor);
    return count.get(ValueLayout.JAVA_LONG, 0);
  }

  /**
   * Waits until the count is above 0, and leaves it so.
   *
   * @param timeoutNanos how long at most; 0 only looks
   * @return whether it is
   */
  public boolean await(long timeoutNanos) throws NativeException {
    return NativeException.check(
            "ppoll", PollCalls.await(descriptor.fd(), PollCalls.POLLIN, timeoutNanos), descriptor)
        > 0;
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    descriptor.close();
  }

  /** An eventfd call is only interrupted while it waits, which a peer may have made it do. */
  private static boolean wouldHaveBlocked(long result) {
    return result == -Errno.EAGAIN.number() || result == -Errno.EINTR.number();
  }

  private static EventFd create(int flags) throws NativeException {
    return new EventFd(
        OwnedFd.adopt(
            NativeException.check(
                "eventfd", PollCalls.eventfd(0, flags | EFD_NONBLOCK | EFD_CLOEXEC), "")));
  }
}
