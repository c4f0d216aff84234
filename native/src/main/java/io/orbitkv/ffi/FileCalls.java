package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** System calls on descriptors and paths. Each returns its result, or a negative errno. */
final class FileCalls {
  static final int AT_FDCWD = -100;
  static final int AT_SYMLINK_NOFOLLOW = 0x100;
  static final int AT_EMPTY_PATH = 0x1000;
  static final int STATX_BASIC_STATS = 0x7ff;
  static final int STATX_DIOALIGN = 0x2000;
  static final int STATX_BYTES = 256;

  static final int F_DUPFD_CLOEXEC = 1030;
  static final int F_GETFL = 3;
  static final int F_SETFL = 4;
  static final int F_ADD_SEALS = 1033;
  static final int F_GET_SEALS = 1034;

  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NONBLOCK = 0x800;
  static final int O_CLOEXEC = 0x80000;

  private static final int RWF_NOWAIT = 0x8;

  static final int LOCK_EX = 2;
  static final int LOCK_NB = 4;

  private static final MethodHandle CLOSE = Linkage.link("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle FCNTL =
      Linkage.linkVariadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle OPEN =
      Linkage.linkVariadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle FTRUNCATE =
      Linkage.link("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle FALLOCATE =
      Linkage.link("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle STATX =
      Linkage.link("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle STATFS = Linkage.link("statfs", JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle FSTATFS = Linkage.link("fstatfs", JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle READ =
      Linkage.link("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle PREADV2 =
      Linkage.link("preadv2", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle PREAD =
      Linkage.link("pread", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle PWRITE =
      Linkage.link("pwrite", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle FSYNC = Linkage.link("fsync", JAVA_INT, JAVA_INT);
  private static final MethodHandle WRITE =
      Linkage.link("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle FLOCK = Linkage.link("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle RENAME = Linkage.link("rename", JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle UNLINK = Linkage.link("unlink", JAVA_INT, ADDRESS);
  private static final MethodHandle CHMOD = Linkage.link("chmod", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle MEMFD_CREATE =
      Linkage.link("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);

  private FileCalls() {}

  /** Reads what is there, whether or not the descriptor would block. */
  static long readNoWait(int fd, MemorySegment into, long bytes) {
    CallState state = CallState.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment vector = arena.allocate(2 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
      vector.set(ADDRESS, 0, into);
      vector.set(JAVA_LONG, JAVA_LONG.byteSize(), bytes);
      return state.result((long) PREADV2.invokeExact(state.errno, fd, vector, 1, -1L, RWF_NOWAIT));
    } catch (Throwable thrown) {
      throw Linkage.failure("preadv2", thrown);
    }
  }

  static int close(int fd) {
    CallState state = CallState.get();
    try {
      return state.result((int) CLOSE.invokeExact(state.errno, fd));
    } catch (Throwable thrown) {
      throw Linkage.failure("close", thrown);
    }
  }

  static int fcntl(int fd, int command, int argument) {
    CallState state = CallState.get();
    try {
      return state.result((int) FCNTL.invokeExact(state.errno, fd, command, argument));
    } catch (Throwable thrown) {
      throw Linkage.failure("fcntl", thrown);
    }
  }

  static int open(MemorySegment path, int flags, int mode) {
    CallState state = CallState.get();
    try {
      return state.result((int) OPEN.invokeExact(state.errno, path, flags, mode));
    } catch (Throwable thrown) {
      throw Linkage.failure("open", thrown);
    }
  }

  /** Opens an existing file or folder, close-on-exec. */
  static OwnedFd openPath(String path, int access) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      int fd = open(arena.allocateFrom(path), access | O_CLOEXEC, 0);
      return OwnedFd.adopt(NativeException.check("open", fd, path));
    }
  }

  static int ftruncate(int fd, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((int) FTRUNCATE.invokeExact(state.errno, fd, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("ftruncate", thrown);
    }
  }

  static int fallocate(int fd, int mode, long offset, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((int) FALLOCATE.invokeExact(state.errno, fd, mode, offset, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("fallocate", thrown);
    }
  }

  static int statx(int directory, MemorySegment path, int flags, int mask, MemorySegment out) {
    CallState state = CallState.get();
    try {
      return state.result((int) STATX.invokeExact(state.errno, directory, path, flags, mask, out));
    } catch (Throwable thrown) {
      throw Linkage.failure("statx", thrown);
    }
  }

  static int statfs(MemorySegment path, MemorySegment out) {
    CallState state = CallState.get();
    try {
      return state.result((int) STATFS.invokeExact(state.errno, path, out));
    } catch (Throwable thrown) {
      throw Linkage.failure("statfs", thrown);
    }
  }

  static int fstatfs(int fd, MemorySegment out) {
    CallState state = CallState.get();
    try {
      return state.result((int) FSTATFS.invokeExact(state.errno, fd, out));
    } catch (Throwable thrown) {
      throw Linkage.failure("fstatfs", thrown);
    }
  }

  static long read(int fd, MemorySegment buffer, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((long) READ.invokeExact(state.errno, fd, buffer, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("read", thrown);
    }
  }

  static long write(int fd, MemorySegment buffer, long bytes) {
    CallState state = CallState.get();
    try {
      return state.result((long) WRITE.invokeExact(state.errno, fd, buffer, bytes));
    } catch (Throwable thrown) {
      throw Linkage.failure("write", thrown);
    }
  }

  static long pread(int fd, MemorySegment buffer, long bytes, long offset) {
    CallState state = CallState.get();
    try {
      return state.result((long) PREAD.invokeExact(state.errno, fd, buffer, bytes, offset));
    } catch (Throwable thrown) {
      throw Linkage.failure("pread", thrown);
    }
  }

  static long pwrite(int fd, MemorySegment buffer, long bytes, long offset) {
    CallState state = CallState.get();
    try {
      return state.result((long) PWRITE.invokeExact(state.errno, fd, buffer, bytes, offset));
    } catch (Throwable thrown) {
      throw Linkage.failure("pwrite", thrown);
    }
  }

  static int fsync(int fd) {
    CallState state = CallState.get();
    try {
      return state.result((int) FSYNC.invokeExact(state.errno, fd));
    } catch (Throwable thrown) {
      throw Linkage.failure("fsync", thrown);
    }
  }

  static int flock(int fd, int operation) {
    CallState state = CallState.get();
    try {
      return state.result((int) FLOCK.invokeExact(state.errno, fd, operation));
    } catch (Throwable thrown) {
      throw Linkage.failure("flock", thrown);
    }
  }

  static int rename(MemorySegment from, MemorySegment to) {
    CallState state = CallState.get();
    try {
      return state.result((int) RENAME.invokeExact(state.errno, from, to));
    } catch (Throwable thrown) {
      throw Linkage.failure("rename", thrown);
    }
  }

  static int unlink(MemorySegment path) {
    CallState state = CallState.get();
    try {
      return state.result((int) UNLINK.invokeExact(state.errno, path));
    } catch (Throwable thrown) {
      throw Linkage.failure("unlink", thrown);
    }
  }

  static int chmod(MemorySegment path, int mode) {
    CallState state = CallState.get();
    try {
      return state.result((int) CHMOD.invokeExact(state.errno, path, mode));
    } catch (Throwable thrown) {
      throw Linkage.failure("chmod", thrown);
    }
  }

  static int memfdCreate(MemorySegment name, int flags) {
    CallState state = CallState.get();
    try {
      return state.result((int) MEMFD_CREATE.invokeExact(state.errno, name, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("memfd_create", thrown);
    }
  }
}
