package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** System calls that wait for descriptors. Each returns its result, or a negative errno. */
final class PollCalls {
  static final short POLLIN = 0x1;
  static final short POLLOUT = 0x4;

  private static final int EINTR = 4;

  private static final MethodHandle EVENTFD = Linkage.link("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle PPOLL =
      Linkage.link("ppoll", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle EPOLL_CREATE1 =
      Linkage.link("epoll_create1", JAVA_INT, JAVA_INT);
  private static final MethodHandle EPOLL_CTL =
      Linkage.link("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle EPOLL_WAIT =
      Linkage.link("epoll_wait", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle EPOLL_PWAIT2 =
      Linkage.linkVariadic(
          "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS,
          JAVA_LONG);

  private PollCalls() {}

  static int eventfd(int initial, int flags) {
    CallState state = CallState.get();
    try {
      return state.result((int) EVENTFD.invokeExact(state.errno, initial, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("eventfd", thrown);
    }
  }

  static int epollCreate(int flags) {
    CallState state = CallState.get();
    try {
      return state.result((int) EPOLL_CREATE1.invokeExact(state.errno, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("epoll_create1", thrown);
    }
  }

  static int epollControl(int epoll, int operation, int fd, MemorySegment event) {
    CallState state = CallState.get();
    try {
      return state.result((int) EPOLL_CTL.invokeExact(state.errno, epoll, operation, fd, event));
    } catch (Throwable thrown) {
      throw Linkage.failure("epoll_ctl", thrown);
    }
  }

  static int epollWait(int epoll, MemorySegment events, int capacity, int timeoutMillis) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int) EPOLL_WAIT.invokeExact(state.errno, epoll, events, capacity, timeoutMillis));
    } catch (Throwable thrown) {
      throw Linkage.failure("epoll_wait", thrown);
    }
  }

  static int epollPwait2(int epoll, MemorySegment events, int capacity, long timeoutNanos) {
    CallState state = CallState.get();
    try {
      return (int)
          state.result(
              (long)
                  EPOLL_PWAIT2.invokeExact(
                      state.errno,
                      (long) Abi.SYS_EPOLL_PWAIT2,
                      (long) epoll,
                      events,
                      (long) capacity,
                      state.timespec(timeoutNanos),
                      MemorySegment.NULL,
                      0L));
    } catch (Throwable thrown) {
      throw Linkage.failure("epoll_pwait2", thrown);
    }
  }

  /**
   * Waits until one of {@code events}, an error or a hang-up is there on one descriptor.
   * Interrupted waits go on with the time that is left.
   *
   * @param timeoutNanos how long; 0 only looks
   * @return 1 when something is there, 0 on a timeout, a negative errno otherwise
   */
  static int await(int fd, short events, long timeoutNanos) {
    CallState state = CallState.get();
    long deadline = System.nanoTime() + Math.max(0, timeoutNanos);
    long left = Math.max(0, timeoutNanos);
    state.pollfd.set(JAVA_INT, 0, fd);
    state.pollfd.set(JAVA_INT, 4, events & 0xffff);
    while (true) {
      int result;
      try {
        result =
            state.result(
                (int)
                    PPOLL.invokeExact(
                        state.errno, state.pollfd, 1L, state.timespec(left), MemorySegment.NULL));
      } catch (Throwable thrown) {
        throw Linkage.failure("ppoll", thrown);
      }
      if (result != -EINTR) {
        return result;
      }
      left = Math.max(0, deadline - System.nanoTime());
    }
  }
}
