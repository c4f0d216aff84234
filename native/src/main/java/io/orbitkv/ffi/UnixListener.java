package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A listening Unix socket at a path, which at most one live server owns.
 *
 * <p>The socket is bound under a temporary name, gets its mode, listens, and is only then renamed
 * to its path; so whoever sees the path can connect, and nobody the mode excludes ever could. A
 * socket left at the path by a dead server is replaced; one that accepts connections is not, and
 * neither is anything that is not a socket. Two servers that start at once are kept apart by a lock
 * on the folder, held only while the path is examined and replaced.
 */
public final class UnixListener implements AutoCloseable {
  private static final long LOCK_TIMEOUT_NANOS = 2_000_000_000L;
  private static final long LOCK_RETRY_MILLIS = 5;
  private static final long PROBE_TIMEOUT_NANOS = 500_000_000L;

  private final OwnedFd descriptor;
  private final String path;
  private final FileStat file;

  private UnixListener(OwnedFd descriptor, String path, FileStat file) {
    this.descriptor = descriptor;
    this.path = path;
    this.file = file;
  }

  /**
   * Listens at a path.
   *
   * @param path at most 107 bytes; its folder must exist
   * @param mode who may connect: 0600 for the owner, 0660 for the group too
   * @param backlog how many connections may wait to be accepted
   * @throws NativeException EADDRINUSE if a live server owns the path; EEXIST if something that is
   *     not a socket is there; ENAMETOOLONG; ETIMEDOUT if another process holds the folder's lock
   */
  public static UnixListener listen(String path, int mode, int backlog) throws NativeException {
    UnixAddress.requireFits(path);
    Path absolute = Path.of(path).toAbsolutePath();
    @Nullable Path folder = absolute.getParent();
    if (folder == null) {
      throw new IllegalArgumentException("not a socket path: " + path);
    }
    try (OwnedFd folderFd = FileCalls.openPath(folder.toString(), FileCalls.O_RDONLY)) {
      lock(folderFd, folder.toString());
      requireReplaceable(path);
      return publish(folderFd, path, mode, backlog);
    }
  }

  /**
   * Finds out, without changing anything, whether {@link #listen} could take a path now. A folder
   * that is missing is no obstacle.
   *
   * @throws NativeException as {@link #listen} does
   */
  public static void requireFree(String path) throws NativeException {
    UnixAddress.requireFits(path);
    requireReplaceable(path);
  }

  /**
   * Accepts a connection that waits; its socket is nonblocking and close-on-exec.
   *
   * @return empty if none waits
   * @throws NativeException EMFILE or ENFILE if there are no descriptors left; the connection goes
   *     on waiting then, and so does a level-triggered event of it
   */
  public Optional<UnixSocket> accept() throws NativeException {
    while (true) {
      int result =
          SocketCalls.accept4(
              descriptor.fd(), SocketCalls.SOCK_NONBLOCK | SocketCalls.SOCK_CLOEXEC);
      if (result == -Errno.EAGAIN.number()) {
        return Optional.empty();
      }
      if (result == -Errno.EINTR.number() || result == -Errno.ECONNABORTED.number()) {
        continue;
      }
      return Optional.of(
          new UnixSocket(OwnedFd.adopt(NativeException.check("accept4", result, path))));
    }
  }

  public String path() {
    return path;
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  /** Stops listening, and removes the path if it is still this listener's. */
  @Override
  public void close() {
    if (!descriptor.isOpen()) {
      return;
    }
    try {
      if (FileStat.of(path).isSameFile(file)) {
        unlink(path);
      }
    } catch (NativeException gone) {
      if (!gone.is(Errno.ENOENT)) {
        throw new IllegalStateException("cannot remove " + path, gone);
      }
    } finally {
      descriptor.close();
    }
  }

  private static void lock(OwnedFd folderFd, String folder) throws NativeException {
    long deadline = System.nanoTime() + LOCK_TIMEOUT_NANOS;
    while (true) {
      int result = FileCalls.flock(folderFd.fd(), FileCalls.LOCK_EX | FileCalls.LOCK_NB);
      if (result == 0) {
        return;
      }
      if (result != -Errno.EAGAIN.number() && result != -Errno.EINTR.number()) {
        throw new NativeException("flock", Errno.of(-result), folder);
      }
      if (System.nanoTime() - deadline >= 0) {
        throw new NativeException("flock", Errno.ETIMEDOUT, folder);
      }
      try {
        Thread.sleep(LOCK_RETRY_MILLIS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new NativeException("flock", Errno.EINTR, folder);
      }
    }
  }

  private static void requireReplaceable(String path) throws NativeException {
    FileStat present;
    try {
      present = FileStat.of(path);
    } catch (NativeException absent) {
      if (absent.is(Errno.ENOENT)) {
        return;
      }
      throw absent;
    }
    if (!present.isSocket()) {
      throw new NativeException("bind", Errno.EEXIST, path + " is not a socket");
    }
    try (UnixSocket live = UnixSocket.connect(path, PROBE_TIMEOUT_NANOS)) {
      throw new NativeException(
          "bind", Errno.EADDRINUSE, path + " belongs to process " + live.peerCredentials().pid());
    } catch (NativeException failed) {
      if (failed.is(Errno.EAGAIN)) {
        throw new NativeException(
            "bind", Errno.EADDRINUSE, path + " belongs to a server that does not accept");
      }
      if (!failed.is(Errno.ECONNREFUSED)) {
        throw failed;
      }
    }
  }

  /** Binds through /proc/self/fd, so that the temporary name always fits. */
  private static UnixListener publish(OwnedFd folderFd, String path, int mode, int backlog)
      throws NativeException {
    String name = ".bind-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    String temporary = "/proc/self/fd/" + folderFd.fd() + "/" + name;
    int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_NONBLOCK | SocketCalls.SOCK_CLOEXEC;
    OwnedFd fd =
        OwnedFd.adopt(
            NativeException.check("socket", SocketCalls.socket(SocketCalls.AF_UNIX, type), ""));
    boolean bound = false;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment temporaryText = arena.allocateFrom(temporary);
      NativeException.verify(
          "bind", SocketCalls.bind(fd.fd(), UnixAddress.encode(temporary, arena)), path);
      bound = true;
      NativeException.verify("chmod", FileCalls.chmod(temporaryText, mode), path);
      NativeException.verify("listen", SocketCalls.listen(fd.fd(), backlog), path);
      FileStat file = FileStat.of(temporary);
      NativeException.verify(
          "rename", FileCalls.rename(temporaryText, arena.allocateFrom(path)), path);
      return new UnixListener(fd, path, file);
    } catch (NativeException | RuntimeException failed) {
      fd.close();
      if (bound) {
        try {
          unlink(temporary);
        } catch (NativeException left) {
          failed.addSuppressed(left);
        }
      }
      throw failed;
    }
  }

  private static void unlink(String path) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      NativeException.verify("unlink", FileCalls.unlink(arena.allocateFrom(path)), path);
    }
  }
}
