package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One thread's preallocated memory for system calls: where errno is captured, and the small
 * arguments of the frequent calls, so that those allocate nothing. Each field is used within one
 * call and means nothing after it.
 */
final class CallState {
  private static final ThreadLocal<CallState> CURRENT = ThreadLocal.withInitial(CallState::new);

  final MemorySegment errno;

  /** One 64-bit value: the counter of an eventfd, an out parameter. */
  final MemorySegment value;

  /** One {@code struct timespec}. */
  final MemorySegment timespec;

  /** One {@code struct pollfd}. */
  final MemorySegment pollfd;

  private CallState() {
    Arena arena = Arena.ofAuto();
    errno = arena.allocate(Linker.Option.captureStateLayout());
    value = arena.allocate(ValueLayout.JAVA_LONG);
    timespec = arena.allocate(16, 8);
    pollfd = arena.allocate(8, 8);
  }

  static CallState get() {
    return CURRENT.get();
  }

  /** The call's result, or its errno with the sign reversed when it returned -1. */
  int result(int returned) {
    return returned == -1 ? -errno.get(ValueLayout.JAVA_INT, 0) : returned;
  }

  long result(long returned) {
    return returned == -1L ? -errno.get(ValueLayout.JAVA_INT, 0) : returned;
  }

  /** Fills the timespec; {@code nanos} must not be negative. */
  MemorySegment timespec(long nanos) {
    timespec.set(ValueLayout.JAVA_LONG, 0, nanos / 1_000_000_000L);
    timespec.set(ValueLayout.JAVA_LONG, 8, nanos % 1_000_000_000L);
    return timespec;
  }
}
