package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What {@code statx} says of a file; its layout, unlike {@code struct stat}, is the same
 * everywhere.
 */
record FileStat(long device, long inode, long bytes, long allocatedBytes, int mode) {
  private static final int TYPE_MASK = 0xf000;
  private static final int SOCKET = 0xc000;
  private static final int REGULAR = 0x8000;
  private static final int STAT_BLOCK_BYTES = 512;

  /** Of an open descriptor. */
  static FileStat of(int fd) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(FileCalls.STATX_BYTES, 8);
      NativeException.verify(
          "statx",
          FileCalls.statx(
              fd,
              arena.allocateFrom(""),
              FileCalls.AT_EMPTY_PATH,
              FileCalls.STATX_BASIC_STATS,
              out),
          "fd " + fd);
      return decode(out);
    }
  }

  /** Of a path, not following a symbolic link at its end. */
  static FileStat of(String path) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(FileCalls.STATX_BYTES, 8);
      NativeException.verify(
          "statx",
          FileCalls.statx(
              FileCalls.AT_FDCWD,
              arena.allocateFrom(path),
              FileCalls.AT_SYMLINK_NOFOLLOW,
              FileCalls.STATX_BASIC_STATS,
              out),
          path);
      return decode(out);
    }
  }

  boolean isSocket() {
    return (mode & TYPE_MASK) == SOCKET;
  }

  boolean isRegular() {
    return (mode & TYPE_MASK) == REGULAR;
  }

  boolean isSameFile(FileStat other) {
    return device == other.device && inode == other.inode;
  }

  private static FileStat decode(MemorySegment out) {
    long major = Integer.toUnsignedLong(out.get(ValueLayout.JAVA_INT, 136));
    long minor = Integer.toUnsignedLong(out.get(ValueLayout.JAVA_INT, 140));
    return new FileStat(
        major << 32 | minor,
        out.get(ValueLayout.JAVA_LONG, 32),
        out.get(ValueLayout.JAVA_LONG, 40),
        out.get(ValueLayout.JAVA_LONG, 48) * STAT_BLOCK_BYTES,
        Short.toUnsignedInt(out.get(ValueLayout.JAVA_SHORT, 28)));
  }
}
