package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The three system calls of io_uring. Each returns its result, or a negative errno.
 *
 * <p>None is linked as critical: an enter may submit a batch for tens of microseconds, wait, or
 * sleep in a file system, and a critical call holds up every collection for as long.
 */
final class UringCalls {
  static final int ENTER_GETEVENTS = 1;
  static final int ENTER_EXT_ARG = 1 << 3;

  static final int REGISTER_FILES = 2;
  static final int REGISTER_ENABLE_RINGS = 12;
  static final int REGISTER_BUFFERS2 = 15;
  static final int REGISTER_BUFFERS_UPDATE = 16;

  private static final MethodHandle SETUP =
      Linkage.linkVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS);
  private static final MethodHandle ENTER =
      Linkage.linkVariadic(
          "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS,
          JAVA_LONG);
  private static final MethodHandle REGISTER =
      Linkage.linkVariadic(
          "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);

  private UringCalls() {}

  /** Makes a ring; the result is its descriptor. */
  static int setup(int entries, MemorySegment params) {
    CallState state = CallState.get();
    try {
      return (int)
          state.result(
              (long)
                  SETUP.invokeExact(state.errno, (long) Abi.SYS_IO_URING_SETUP, entries, params));
    } catch (Throwable thrown) {
      throw Linkage.failure("io_uring_setup", thrown);
    }
  }

  /** Submits and waits; the result is how many entries were taken. */
  static int enter(
      int ring, int submit, int minComplete, int flags, MemorySegment argument, long bytes) {
    CallState state = CallState.get();
    try {
      return (int)
          state.result(
              (long)
                  ENTER.invokeExact(
                      state.errno,
                      (long) Abi.SYS_IO_URING_ENTER,
                      ring,
                      submit,
                      minComplete,
                      flags,
                      argument,
                      bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("io_uring_enter", thrown);
    }
  }

  /** Registers something with a ring. */
  static int register(int ring, int what, MemorySegment argument, int count) {
    CallState state = CallState.get();
    try {
      return (int)
          state.result(
              (long)
                  REGISTER.invokeExact(
                      state.errno, (long) Abi.SYS_IO_URING_REGISTER, ring, what, argument, count));
    } catch (Throwable thrown) {
      throw Linkage.failure("io_uring_register", thrown);
    }
  }
}
