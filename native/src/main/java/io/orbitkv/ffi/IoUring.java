package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Finds out whether io_uring may be used, by setting up a ring of one entry and closing it. */
final class IoUring {
  private static final int PARAMS_BYTES = 120;
  private static final int FEATURES_OFFSET = 20;

  private static final MethodHandle SETUP =
      Linkage.linkVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS);

  private IoUring() {}

  static Probe probe() {
    CallState state = CallState.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(PARAMS_BYTES, 8);
      long result;
      try {
        result =
            state.result(
                (long) SETUP.invokeExact(state.errno, (long) Abi.SYS_IO_URING_SETUP, 1, params));
      } catch (Throwable thrown) {
        throw Linkage.failure("io_uring_setup", thrown);
      }
      if (result >= 0) {
        OwnedFd.adopt((int) result).close();
        int features = params.get(JAVA_INT, FEATURES_OFFSET);
        return Probe.found("features 0x" + Integer.toHexString(features));
      }
      return explain(Errno.of((int) -result));
    }
  }

  static Probe explain(Errno errno) {
    String why = "io_uring_setup failed with " + errno.symbol();
    return switch (errno.symbol()) {
      case "ENOSYS" ->
          Probe.missing(
              why + ": the kernel has no io_uring", "use Linux 5.11 or later built with it");
      case "EPERM" ->
          Probe.missing(
              why + ": forbidden by a seccomp profile or by sysctl kernel.io_uring_disabled",
              "allow the io_uring system calls in the container's profile and set the sysctl to 0");
      case "ENOMEM" ->
          Probe.missing(why + ": too little locked memory", "raise RLIMIT_MEMLOCK (ulimit -l)");
      default -> Probe.missing(why, "see io_uring_setup(2) for " + errno.symbol());
    };
  }
}
