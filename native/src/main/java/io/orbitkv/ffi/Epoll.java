package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Waits for many descriptors at once. One thread waits; any thread may add and remove. */
public final class Epoll implements AutoCloseable {
  /** Something can be read. */
  public static final int IN = 0x1;

  /** Something can be written. */
  public static final int OUT = 0x4;

  /** An error; reported unasked. */
  public static final int ERR = 0x8;

  /** The peer is gone for both directions; reported unasked. */
  public static final int HUP = 0x10;

  /** The peer will send no more. */
  public static final int RDHUP = 0x2000;

  /** Report a descriptor once, then only after it was armed again by {@link #modify}. */
  public static final int ONESHOT = 1 << 30;

  /** Report each change once (edge-triggered) and not as long as the condition lasts. */
  public static final int ET = 1 << 31;

  private static final int EPOLL_CLOEXEC = 0x80000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_DEL = 2;
  private static final int EPOLL_CTL_MOD = 3;
  private static final long NANOS_PER_MILLI = 1_000_000L;

  /** Cleared for good when the kernel (before 5.11) or a seccomp profile lacks epoll_pwait2. */
  private static volatile boolean nanosecondWait = true;

  private final OwnedFd descriptor;

  private Epoll(OwnedFd descriptor) {
    this.descriptor = descriptor;
  }

  public static Epoll create() throws NativeException {
    return new Epoll(
        OwnedFd.adopt(
            NativeException.check("epoll_create1", PollCalls.epollCreate(EPOLL_CLOEXEC), "")));
  }

  /**
   * Watches a descriptor. Remove it before it is closed: a duplicate of it, in this process or
   * another, would keep it watched.
   *
   * @param events a union of the constants of this class
   * @param data given back with every event of it
   * @throws NativeException EEXIST if it is watched already; EPERM if it cannot be watched
   */
  public void add(OwnedFd watched, int events, long data) throws NativeException {
    control(EPOLL_CTL_ADD, watched, events, data);
  }

  /** Changes what is watched for, and arms it again. */
  public void modify(OwnedFd watched, int events, long data) throws NativeException {
    control(EPOLL_CTL_MOD, watched, events, data);
  }

  /** Watches it no more. */
  public void remove(OwnedFd watched) throws NativeException {
    control(EPOLL_CTL_DEL, watched, 0, 0);
  }

  /**
   * Waits until something happens. Interrupted waits go on with the time that is left.
   *
   * @param into takes the events
   * @param timeoutNanos how long at most; 0 only looks; kernels without epoll_pwait2 round it up to
   *     milliseconds
   * @return how many events there are, 0 on a timeout
   */
  public int await(EpollEvents into, long timeoutNanos) throws NativeException {
    into.setCount(0);
    long left = Math.max(0, timeoutNanos);
    long deadline = System.nanoTime() + left;
    while (true) {
      int result = waitOnce(into, left);
      if (result >= 0) {
        into.setCount(result);
        return result;
      }
      if (result != -Errno.EINTR.number()) {
        throw new NativeException("epoll_wait", Errno.of(-result), descriptor.toString());
      }
      left = Math.max(0, deadline - System.nanoTime());
    }
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    descriptor.close();
  }

  private int waitOnce(EpollEvents into, long nanos) {
    int fd = descriptor.fd();
    long wholeMillis = Math.ceilDiv(nanos, NANOS_PER_MILLI);
    boolean needsNanos = nanos % NANOS_PER_MILLI != 0 || wholeMillis > Integer.MAX_VALUE;
    if (nanosecondWait && needsNanos) {
      int result = PollCalls.epollPwait2(fd, into.buffer, into.capacity, nanos);
      if (result != -Errno.ENOSYS.number() && result != -Errno.EPERM.number()) {
        return result;
      }
      nanosecondWait = false;
    }
    int millis = (int) Math.min(wholeMillis, Integer.MAX_VALUE);
    return PollCalls.epollWait(fd, into.buffer, into.capacity, millis);
  }

  private void control(int operation, OwnedFd watched, int events, long data)
      throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(16, 8);
      event.set(ValueLayout.JAVA_INT, 0, events);
      event.set(ValueLayout.JAVA_LONG_UNALIGNED, Abi.CURRENT.epollDataOffset, data);
      NativeException.verify(
          "epoll_ctl",
          PollCalls.epollControl(descriptor.fd(), operation, watched.fd(), event),
          watched.toString());
    }
  }
}
