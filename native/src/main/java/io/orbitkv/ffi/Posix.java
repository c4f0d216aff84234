package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Collection;

/** Small calls that the JDK does not offer. */
public final class Posix {
  private static final int MAX_CPUS = 1024;
  private static final int FALLOC_FL_KEEP_SIZE = 1;

  private static final MethodHandle GETEUID = Linkage.linkPlain("geteuid", JAVA_INT);
  private static final MethodHandle GETEGID = Linkage.linkPlain("getegid", JAVA_INT);
  private static final MethodHandle MEMCPY =
      Linkage.linkPlain("memcpy", ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);
  private static final MethodHandle SCHED_SETAFFINITY =
      Linkage.link("sched_setaffinity", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);

  private Posix() {}

  /** The effective user, to compare with {@link PeerCredentials#uid}. */
  public static int userId() {
    try {
      return (int) GETEUID.invokeExact();
    } catch (Throwable thrown) {
      throw Linkage.failure("geteuid", thrown);
    }
  }

  /** The effective group. */
  public static int groupId() {
    try {
      return (int) GETEGID.invokeExact();
    } catch (Throwable thrown) {
      throw Linkage.failure("getegid", thrown);
    }
  }

  /**
   * Allocates a range of a file, so that writing it cannot run out of space, and makes the file as
   * long as that.
   *
   * @throws NativeException ENOSPC if there is too little; EOPNOTSUPP if the file system cannot
   */
  public static void allocate(OwnedFd descriptor, long offset, long bytes) throws NativeException {
    allocate(descriptor, 0, offset, bytes);
  }

  /**
   * Like {@link #allocate} for an existing file, but leaves its length alone: space beyond the end
   * is reserved for growing into, and a mapped write there cannot raise SIGBUS for want of space.
   *
   * @throws NativeException ENOENT if there is no such file; ENOSPC; EOPNOTSUPP
   */
  public static void reserve(Path file, long offset, long bytes) throws NativeException {
    try (OwnedFd descriptor = FileCalls.openPath(file.toString(), FileCalls.O_RDWR)) {
      allocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, bytes);
    }
  }

  /**
   * Lets the calling platform thread run on these processors only.
   *
   * @throws NativeException EINVAL if none of them may be used
   */
  public static void pinThread(Collection<Integer> cpus) throws NativeException {
    CallState state = CallState.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MAX_CPUS / 8, 8);
      for (int cpu : cpus) {
        long word = mask.getAtIndex(JAVA_LONG, cpu / 64);
        mask.setAtIndex(JAVA_LONG, cpu / 64, word | 1L << (cpu % 64));
      }
      int result;
      try {
        result =
            state.result(
                (int) SCHED_SETAFFINITY.invokeExact(state.errno, 0, mask.byteSize(), mask));
      } catch (Throwable thrown) {
        throw Linkage.failure("sched_setaffinity", thrown);
      }
      NativeException.verify("sched_setaffinity", result, "processors " + cpus);
    }
  }

  /**
   * The C library's memcpy: the floor that copies are measured against.
   *
   * @param to native memory, at least as long as {@code from}, not overlapping it
   */
  public static void memcpy(MemorySegment to, MemorySegment from) {
    if (to.isReadOnly() || to.byteSize() < from.byteSize()) {
      throw new IllegalArgumentException("cannot copy " + from.byteSize() + " bytes there");
    }
    try {
      MemorySegment copied = (MemorySegment) MEMCPY.invokeExact(to, from, from.byteSize());
      if (copied.address() != to.address()) {
        throw new IllegalStateException("memcpy returned another address");
      }
    } catch (Throwable thrown) {
      throw Linkage.failure("memcpy", thrown);
    }
  }

  private static void allocate(OwnedFd descriptor, int mode, long offset, long bytes)
      throws NativeException {
    int result;
    do {
      result = FileCalls.fallocate(descriptor.fd(), mode, offset, bytes);
    } while (result == -Errno.EINTR.number());
    NativeException.verify("fallocate", result, bytes + " bytes at " + offset);
  }
}
