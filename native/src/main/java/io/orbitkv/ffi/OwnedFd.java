package io.orbitkv.ffi;

import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file descriptor that has one owner. Closing is idempotent and safe from any thread; the owner
 * sees to it that nobody uses the number after that, because the kernel gives it out again.
 */
public final class OwnedFd implements AutoCloseable {
  private static final int CLOSED = -1;

  private final AtomicInteger number;

  private OwnedFd(int number) {
    this.number = new AtomicInteger(number);
  }

  /**
   * Takes ownership of an open descriptor.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public static OwnedFd adopt(int fd) {
    if (fd < 0) {
      throw new IllegalArgumentException("not a descriptor: " + fd);
    }
    return new OwnedFd(fd);
  }

  /**
   * The descriptor's number.
   *
   * @throws IllegalStateException if it is closed or was released
   */
  public int fd() {
    int fd = number.getPlain();
    if (fd == CLOSED) {
      throw new IllegalStateException("descriptor is closed");
    }
    return fd;
  }

  public boolean isOpen() {
    return number.get() != CLOSED;
  }

  /** A second, close-on-exec descriptor of the same open file. */
  public OwnedFd dup() throws NativeException {
    int fd = fd();
    return adopt(
        NativeException.check(
            "dup", FileCalls.fcntl(fd, FileCalls.F_DUPFD_CLOEXEC, 0), "fd " + fd));
  }

  /** Gives the descriptor up without closing it; the caller owns the number from here on. */
  public int release() {
    int fd = number.getAndSet(CLOSED);
    if (fd == CLOSED) {
      throw new IllegalStateException("descriptor is closed");
    }
    return fd;
  }

  /**
   * Closes it, once.
   *
   * @throws IllegalStateException if somebody else closed the number, which means that some owner's
   *     descriptor is not its own
   * @throws UncheckedIOException if the file system reports a failed write only now
   */
  @Override
  public void close() {
    int fd = number.getAndSet(CLOSED);
    if (fd == CLOSED) {
      return;
    }
    int result = FileCalls.close(fd);
    if (result == 0 || result == -Errno.EINTR.number()) {
      return; // Linux has released the number even when close was interrupted.
    }
    NativeException failure = new NativeException("close", Errno.of(-result), "fd " + fd);
    if (failure.is(Errno.EBADF)) {
      throw new IllegalStateException("descriptor was closed by another owner", failure);
    }
    throw new UncheckedIOException(failure);
  }

  @Override
  public String toString() {
    int fd = number.get();
    return fd == CLOSED ? "fd closed" : "fd " + fd;
  }
}
