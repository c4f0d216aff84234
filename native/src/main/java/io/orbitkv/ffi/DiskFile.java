package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * An open regular file that is read and written at offsets, through the page cache or past it. Any
 * number of threads may read and write it at once.
 */
public final class DiskFile implements AutoCloseable {
  private final Path path;
  private final OwnedFd descriptor;
  private final boolean direct;

  private DiskFile(Path path, OwnedFd descriptor, boolean direct) {
    this.path = path;
    this.descriptor = descriptor;
    this.direct = direct;
  }

  /**
   * Opens an existing file for reading and writing through the page cache.
   *
   * @throws NativeException ENOENT if there is none; EINVAL if it is not a regular file
   */
  public static DiskFile open(Path path) throws NativeException {
    return open(path, 0, false);
  }

  /**
   * Opens an existing file past the page cache: offsets, sizes and addresses are then multiples of
   * what {@link DirectIo} says.
   *
   * @throws NativeException EINVAL if its file system does not offer that
   */
  public static DiskFile openDirect(Path path) throws NativeException {
    return open(path, Abi.CURRENT.openDirect, true);
  }

  /**
   * Makes an empty file that only this user may read or write, and opens it through the page cache.
   *
   * @throws NativeException EEXIST if there is one
   */
  public static DiskFile create(Path path) throws NativeException {
    return open(path, FileCalls.O_CREAT | FileCalls.O_EXCL, false);
  }

  private static DiskFile open(Path path, int flags, boolean direct) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      int fd =
          FileCalls.open(
              arena.allocateFrom(path.toString()),
              FileCalls.O_RDWR | FileCalls.O_CLOEXEC | FileCalls.O_NONBLOCK | flags,
              0600);
      OwnedFd descriptor = OwnedFd.adopt(NativeException.check("open", fd, path));
      try {
        requireRegular(path, fd);
      } catch (NativeException refused) {
        descriptor.close();
        throw refused;
      }
      return new DiskFile(path, descriptor, direct);
    }
  }

  /** It was opened without blocking, so that opening a pipe does not wait for its other end. */
  private static void requireRegular(Path path, int fd) throws NativeException {
    if (!FileStat.of(fd).isRegular()) {
      throw new NativeException("open", Errno.EINVAL, path + ", which is not a regular file,");
    }
    int flags =
        NativeException.check("fcntl", FileCalls.fcntl(fd, FileCalls.F_GETFL, 0), "F_GETFL");
    NativeException.verify(
        "fcntl", FileCalls.fcntl(fd, FileCalls.F_SETFL, flags & ~FileCalls.O_NONBLOCK), "F_SETFL");
  }

  public Path path() {
    return path;
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  /** Whether it goes past the page cache. */
  public boolean direct() {
    return direct;
  }

  /** Its length. */
  public long bytes() throws NativeException {
    return FileStat.of(descriptor.fd()).bytes();
  }

  /** What its file system set aside for it; less than its length where it has holes. */
  public long allocatedBytes() throws NativeException {
    return FileStat.of(descriptor.fd()).allocatedBytes();
  }

  /**
   * Reads into memory.
   *
   * @return how many bytes, fewer at the end of the file; or a negative errno
   */
  public int read(MemorySegment into, long offset) {
    return (int) FileCalls.pread(descriptor.fd(), into, into.byteSize(), offset);
  }

  /**
   * Writes from memory.
   *
   * @return how many bytes; or a negative errno
   */
  public int write(MemorySegment from, long offset) {
    return (int) FileCalls.pwrite(descriptor.fd(), from, from.byteSize(), offset);
  }

  /**
   * Reserves its blocks from the start and makes it that long.
   *
   * @throws NativeException ENOSPC or EDQUOT if there is too little; EOPNOTSUPP if its file system
   *     cannot reserve; EFBIG
   */
  public void allocate(long bytes) throws NativeException {
    Posix.allocate(descriptor, 0, bytes);
  }

  /** Makes it shorter, or longer with a hole. */
  public void truncate(long bytes) throws NativeException {
    NativeException.verify("ftruncate", FileCalls.ftruncate(descriptor.fd(), bytes), path);
  }

  /** Brings what was written, and the file's length, to the disk. */
  public void sync() throws NativeException {
    NativeException.verify("fsync", FileCalls.fsync(descriptor.fd()), path);
  }

  /**
   * Locks it against other processes that lock it, until it is closed.
   *
   * @return false if somebody else has
   */
  public boolean tryLock() throws NativeException {
    int result;
    do {
      result = FileCalls.flock(descriptor.fd(), FileCalls.LOCK_EX | FileCalls.LOCK_NB);
    } while (result == -Errno.EINTR.number());
    if (result == -Errno.EAGAIN.number()) {
      return false;
    }
    NativeException.verify("flock", result, path);
    return true;
  }

  @Override
  public void close() {
    descriptor.close();
  }

  @Override
  public String toString() {
    return path + (direct ? " (direct)" : "");
  }
}
