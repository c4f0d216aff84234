package io.orbitkv.core.ssd.device;

import io.orbitkv.core.ssd.device.SsdRefusal.Cause;
import io.orbitkv.ffi.IoUring;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Probe;
import io.orbitkv.ffi.Shortfall;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Chooses a backend and opens it. */
public final class SsdDevices {
  /** Threads of the POSIX backend at most; each holds one operation. */
  private static final int MAX_THREADS = 32;

  private static final String WITHOUT_CACHE = ", past the page cache";
  private static final String WITH_CACHE = ", through the page cache";

  private SsdDevices() {}

  /**
   * Opens a device.
   *
   * @param files stay open until the device is closed
   * @param pool mapped at a multiple of 4096 until the device is closed
   * @param depth operations in flight, 1 to 4096
   */
  public static SsdOpening<OpenSsdDevice> open(
      SsdBackend asked, SsdFiles files, MemorySegment pool, int depth) {
    List<Shortfall> shortfalls = new ArrayList<>(files.shortfalls());
    try {
      return switch (asked) {
        case POSIX -> posix("asked for", files, pool, depth, shortfalls);
        case URING -> {
          Probe probe = IoUring.probe();
          yield probe.present()
              ? uring("asked for", files, pool, depth, shortfalls)
              : refused(probe.detail(), probe.remedy());
        }
        case AUTO -> auto(files, pool, depth, shortfalls);
      };
    } catch (NativeException failed) {
      return refused(String.valueOf(failed.getMessage()), "try --ssd-backend posix");
    }
  }

  private static SsdOpening<OpenSsdDevice> auto(
      SsdFiles files, MemorySegment pool, int depth, List<Shortfall> shortfalls)
      throws NativeException {
    if (!files.direct()) {
      String why = "a file system does not take O_DIRECT";
      return posix(why, files, pool, depth, shortfalls);
    }
    Probe probe = IoUring.probe();
    String why = probe.detail();
    String remedy = probe.remedy();
    if (probe.present()) {
      try {
        return uring("io_uring works here", files, pool, depth, shortfalls);
      } catch (NativeException refused) {
        why = String.valueOf(refused.getMessage());
        remedy = "see " + refused.call() + "(2)";
      }
    }
    shortfalls.add(new Shortfall("io_uring", "pread and pwrite by threads", why, remedy));
    return posix("no io_uring: " + why, files, pool, depth, shortfalls);
  }

  private static SsdOpening<OpenSsdDevice> uring(
      String why, SsdFiles files, MemorySegment pool, int depth, List<Shortfall> shortfalls)
      throws NativeException {
    UringDevice device = UringDevice.open(files.files(), pool, depth);
    String flags = device.flags().isEmpty() ? "" : " (" + String.join(", ", device.flags()) + ")";
    if (!device.registrationRefusal().isEmpty()) {
      shortfalls.add(
          new Shortfall(
              "the pool as registered buffers",
              "pages pinned for each operation",
              device.registrationRefusal(),
              "give the Manager CAP_IPC_LOCK or a higher RLIMIT_MEMLOCK, and Linux 5.19 or later"));
    }
    String reason = why + flags + (files.direct() ? WITHOUT_CACHE : WITH_CACHE);
    return new SsdOpening.Opened<>(new OpenSsdDevice(device, SsdBackend.URING, reason, shortfalls));
  }

  private static SsdOpening<OpenSsdDevice> posix(
      String why, SsdFiles files, MemorySegment pool, int depth, List<Shortfall> shortfalls)
      throws NativeException {
    int threads = Math.min(depth, MAX_THREADS);
    PosixDevice device = PosixDevice.open(files.files(), pool, depth, threads);
    String reason =
        why + "; " + threads + " threads" + (files.direct() ? WITHOUT_CACHE : WITH_CACHE);
    return new SsdOpening.Opened<>(new OpenSsdDevice(device, SsdBackend.POSIX, reason, shortfalls));
  }

  private static SsdOpening<OpenSsdDevice> refused(String why, String remedy) {
    return new SsdOpening.Refused<>(new SsdRefusal(Cause.BACKEND, why, remedy));
  }
}
