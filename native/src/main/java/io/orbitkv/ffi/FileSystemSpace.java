package io.orbitkv.ffi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What {@code statfs} says of a file system, and the host of its huge pages.
 *
 * @param type its magic number
 * @param totalBytes its size
 * @param freeBytes what an unprivileged process may still take
 * @param blockBytes what files grow by; on hugetlbfs the size of a huge page
 */
public record FileSystemSpace(long type, long totalBytes, long freeBytes, long blockBytes) {
  private static final long HUGETLBFS_MAGIC = 0x958458f6L;
  private static final long TMPFS_MAGIC = 0x01021994L;
  private static final int STATFS_BYTES = 120;

  /** Of the file system that holds a path. */
  public static FileSystemSpace ofPath(String path) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(STATFS_BYTES, 8);
      NativeException.verify("statfs", FileCalls.statfs(arena.allocateFrom(path), out), path);
      return decode(out);
    }
  }

  static FileSystemSpace ofDescriptor(int fd) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(STATFS_BYTES, 8);
      NativeException.verify("fstatfs", FileCalls.fstatfs(fd, out), "fd " + fd);
      return decode(out);
    }
  }

  /** Whether its files are memory and nothing else: tmpfs or hugetlbfs. */
  public boolean isMemory() {
    return type == TMPFS_MAGIC || isHugeTlb();
  }

  /** Whether its files are huge pages: hugetlbfs. */
  public boolean isHugeTlb() {
    return type == HUGETLBFS_MAGIC;
  }

  private static FileSystemSpace decode(MemorySegment out) {
    long blockBytes = out.get(ValueLayout.JAVA_LONG, 72);
    if (blockBytes == 0) {
      blockBytes = out.get(ValueLayout.JAVA_LONG, 8);
    }
    FileSystemSpace said =
        new FileSystemSpace(
            out.get(ValueLayout.JAVA_LONG, 0),
            out.get(ValueLayout.JAVA_LONG, 16) * blockBytes,
            out.get(ValueLayout.JAVA_LONG, 32) * blockBytes,
            blockBytes);
    return said.isHugeTlb() && said.totalBytes == 0 ? said.ofHost() : said;
  }

  /**
   * A hugetlbfs that was mounted without a size says nothing: it may take all that the host has.
   */
  private FileSystemSpace ofHost() {
    try {
      for (HugePagePool pool : HugePagePool.all()) {
        if (pool.pageBytes() == blockBytes) {
          return new FileSystemSpace(
              type, pool.total() * blockBytes, pool.free() * blockBytes, blockBytes);
        }
      }
      return this;
    } catch (IOException unknown) {
      return this;
    }
  }
}
