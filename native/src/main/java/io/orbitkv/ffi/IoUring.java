package io.orbitkv.ffi;

import java.util.List;

/** Finds out whether io_uring may be used, and explains why not. */
public final class IoUring {
  private IoUring() {}

  /** Runs a request through a ring of its own. */
  public static Probe probe() {
    try {
      List<String> flags = UringRing.tryOut();
      return Probe.found(flags.isEmpty() ? "no setup flags" : String.join(", ", flags));
    } catch (NativeException refused) {
      return explain(refused.call(), refused.errno());
    }
  }

  static Probe explain(String call, Errno errno) {
    String why = call + " failed with " + errno.symbol();
    return switch (errno.symbol()) {
      case "ENOSYS" ->
          Probe.missing(
              why + ": the kernel has no io_uring, or a seccomp profile hides it",
              "use Linux 5.11 or later built with it; in a container, allow the io_uring system calls");
      case "EOPNOTSUPP" ->
          Probe.missing(why + ": the kernel's io_uring is too old", "use Linux 5.11 or later");
      case "EPERM", "EACCES" ->
          Probe.missing(
              why + ": forbidden by a seccomp profile or by sysctl kernel.io_uring_disabled",
              "allow the io_uring system calls in the container's profile and set the sysctl to 0");
      case "ENOMEM" ->
          Probe.missing(why + ": too little locked memory", "raise RLIMIT_MEMLOCK (ulimit -l)");
      default -> Probe.missing(why, "see " + call + "(2) for " + errno.symbol());
    };
  }
}
