package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * System calls on address ranges. Addresses are plain numbers here; {@link Mapping} turns them into
 * segments. Each returns its result, or a negative errno.
 */
final class MemoryCalls {
  static final int PROT_READ = 1;
  static final int PROT_WRITE = 2;
  static final int PROT_EXEC = 4;

  static final int MAP_SHARED = 0x1;
  static final int MAP_PRIVATE = 0x2;
  static final int MAP_ANONYMOUS = 0x20;
  static final int MAP_POPULATE = 0x8000;
  static final int MAP_HUGETLB = 0x40000;
  static final int MAP_HUGE_2MB = 21 << 26;

  static final int MADV_DONTNEED = 4;
  static final int MADV_HUGEPAGE = 14;
  static final int MADV_POPULATE_READ = 22;
  static final int MADV_POPULATE_WRITE = 23;

  static final int MPOL_BIND = 2;
  static final int MPOL_MF_MOVE = 2;

  private static final MethodHandle MMAP =
      Linkage.link(
          "mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle MUNMAP = Linkage.link("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle MPROTECT =
      Linkage.link("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle MADVISE =
      Linkage.link("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle MLOCK = Linkage.link("mlock", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle MBIND =
      Linkage.linkVariadic(
          "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG,
          JAVA_LONG);

  private MemoryCalls() {}

  static long mmap(long bytes, int protection, int flags, int fd, long offset) {
    CallState state = CallState.get();
    try {
      return state.result(
          (long) MMAP.invokeExact(state.errno, 0L, bytes, protection, flags, fd, offset));
    } catch (Throwable thrown) {
      throw Linkage.failure("mmap", thrown);
    }
  }

  static int munmap(long address, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((int) MUNMAP.invokeExact(state.errno, address, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("munmap", thrown);
    }
  }

  static int mprotect(long address, long bytes, int protection) {
    CallState state = CallState.get();
    try {
      return state.result((int) MPROTECT.invokeExact(state.errno, address, bytes, protection));
    } catch (Throwable thrown) {
      throw Linkage.failure("mprotect", thrown);
    }
  }

  static int madvise(long address, long bytes, int advice) {
    CallState state = CallState.get();
    try {
      return state.result((int) MADVISE.invokeExact(state.errno, address, bytes, advice));
    } catch (Throwable thrown) {
      throw Linkage.failure("madvise", thrown);
    }
  }

  /** Brings pages in, for writing or only for reading, however often it is interrupted. */
  static int populate(long address, long bytes, boolean forWriting) {
    int result;
    do {
      result = madvise(address, bytes, forWriting ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
    } while (result == -Errno.EINTR.number());
    return result;
  }

  static int mlock(long address, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((int) MLOCK.invokeExact(state.errno, address, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("mlock", thrown);
    }
  }

  /** Binds the range to the nodes whose bits are set in {@code nodeMask}. */
  static int mbind(long address, long bytes, MemorySegment nodeMask, long maskBits) {
    CallState state = CallState.get();
    try {
      return (int)
          state.result(
              (long)
                  MBIND.invokeExact(
                      state.errno,
                      (long) Abi.CURRENT.sysMbind,
                      address,
                      bytes,
                      (long) MPOL_BIND,
                      nodeMask,
                      maskBits,
                      (long) MPOL_MF_MOVE));
    } catch (Throwable thrown) {
      throw Linkage.failure("mbind", thrown);
    }
  }
}
