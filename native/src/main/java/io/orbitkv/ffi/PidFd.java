package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * A descriptor of a process that becomes readable when the process is gone, and that stays with
 * this process when its number is given out again. Fit for {@link Epoll}.
 */
public final class PidFd implements AutoCloseable {
  private static final MethodHandle PIDFD_OPEN =
      Linkage.linkVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private final OwnedFd descriptor;

  PidFd(OwnedFd descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Opens one.
   *
   * @return empty if there is no such process, or where the kernel (before 5.3) or a seccomp
   *     profile does not offer it
   */
  public static Optional<PidFd> open(int pid) throws NativeException {
    CallState state = CallState.get();
    long result;
    try {
      result =
          state.result(
              (long)
                  PIDFD_OPEN.invokeExact(state.errno, (long) Abi.SYS_PIDFD_OPEN, (long) pid, 0L));
    } catch (Throwable thrown) {
      throw Linkage.failure("pidfd_open", thrown);
    }
    Errno errno = Errno.of((int) Math.max(0, -result));
    if (errno.equals(Errno.ESRCH) || errno.equals(Errno.ENOSYS) || errno.equals(Errno.EPERM)) {
      return Optional.empty();
    }
    return Optional.of(
        new PidFd(OwnedFd.adopt((int) NativeException.check("pidfd_open", result, "pid " + pid))));
  }

  /** Waits until the process is gone, and says whether it is; 0 only looks. */
  public boolean awaitExit(long timeoutNanos) throws NativeException {
    return NativeException.check(
            "ppoll",
            PollCalls.await(descriptor.fd(), PollCalls.POLLIN, timeoutNanos),
            "pidfd " + descriptor)
        > 0;
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
