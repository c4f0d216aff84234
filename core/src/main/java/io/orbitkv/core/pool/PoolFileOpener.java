package io.orbitkv.core.pool;

import io.orbitkv.core.file.FirstPage;
import io.orbitkv.core.pool.PoolRefusal.Cause;
import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Opens the file of a pool, once.
 *
 * <p>Every page is set aside before the pool is used: touching one that tmpfs has no room for would
 * kill the process. A new file is made under its name with {@value #UNFINISHED} behind and gets its
 * name when it is whole, so a file of another kind is never taken for one that a crash left
 * unfinished.
 */
public final class PoolFileOpener {
  private static final String UNFINISHED = ".unfinished";
  private static final String NO_SPACE_REMEDY =
      "lower --pool-size, mount it with more (mount -o remount,size=...), or reserve more huge"
          + " pages";
  private static final Set<PosixFilePermission> OWN =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private final Path path;
  private final long poolBytes;
  private final long lastEpoch;
  private final MapOptions options;
  private final UUID freshId;
  private String freshBecause = "";
  private @Nullable PoolHeader found;

  /**
   * @param path a file, or a folder that is to hold one
   * @param lastEpoch of the run that the journal saw last, 0 if there was none
   * @param freshId the id of the pool if what is there cannot be used
   */
  public PoolFileOpener(
      Path path, long poolBytes, long lastEpoch, MapOptions options, UUID freshId) {
    this.path = PoolFile.at(path);
    this.poolBytes = poolBytes;
    this.lastEpoch = lastEpoch;
    this.options = options;
    this.freshId = freshId;
  }

  /** Opens it; whatever is refused leaves nothing behind that was not there before. */
  public PoolOpening open() {
    Path folder = path.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      return refused(Cause.BAD_PATH, folder + " is not a folder", "make it");
    }
    DiskFile file = null;
    try {
      FileSystemSpace space = FileSystemSpace.ofPath(folder.toString());
      if (!space.isMemory()) {
        return refused(
            Cause.NOT_MEMORY,
            folder + " is on a disk, where the pool would be written back all the time",
            "name a file on tmpfs, such as /dev/shm/" + PoolFile.NAME + ", or on hugetlbfs");
      }
      boolean there = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
      file = there ? DiskFile.open(path) : begin();
      Optional<PoolRefusal> refusal =
          !file.tryLock() ? Optional.of(inUse()) : there ? examine(file) : unfinished(file);
      if (refusal.isPresent()) {
        file.close();
        return new PoolOpening.Refused(refusal.get());
      }
      long unit = Math.max(Memfd.HUGE_PAGE_BYTES, space.isHugeTlb() ? space.blockBytes() : 0);
      long offset = poolOffset(unit);
      long fileBytes = (offset + poolBytes + unit - 1) / unit * unit;
      long missingBytes = fileBytes - file.allocatedBytes();
      // Asked anew: what a start left unfinished was given back meanwhile.
      long freeBytes = FileSystemSpace.ofPath(folder.toString()).freeBytes();
      if (missingBytes > freeBytes) {
        return new PoolOpening.Refused(takeBack(file, tooLarge(missingBytes, freeBytes)));
      }
      return new PoolOpening.Opened(finish(file, offset, fileBytes, there));
    } catch (NativeException failed) {
      return new PoolOpening.Refused(takeBack(file, refusal(failed)));
    } catch (IOException failed) {
      return new PoolOpening.Refused(
          takeBack(
              file, new PoolRefusal(Cause.BAD_PATH, path + ": " + failed, "look at the folder")));
    }
  }

  // ---- what is there
  // -----------------------------------------------------------------------------------------------

  private Path unfinished() {
    return path.resolveSibling(path.getFileName() + UNFINISHED);
  }

  private DiskFile begin() throws NativeException {
    try {
      return DiskFile.create(unfinished());
    } catch (NativeException failed) {
      if (!failed.is(Errno.EEXIST)) {
        throw failed;
      }
      return DiskFile.open(unfinished());
    }
  }

  private Optional<PoolRefusal> unfinished(DiskFile file) throws NativeException, IOException {
    Optional<PoolRefusal> shared = othersMayUse(file);
    if (shared.isEmpty()) {
      freshBecause = path + " was not there";
      file.truncate(0);
    }
    return shared;
  }

  /** Blocks of everybody's prompts lie in it, and whoever may write it decides what is in them. */
  private static Optional<PoolRefusal> othersMayUse(DiskFile file) throws IOException {
    int owner = (int) Files.getAttribute(file.path(), "unix:uid", LinkOption.NOFOLLOW_LINKS);
    Set<PosixFilePermission> allowed =
        Files.getPosixFilePermissions(file.path(), LinkOption.NOFOLLOW_LINKS);
    if (owner == Posix.userId() && OWN.containsAll(allowed)) {
      return Optional.empty();
    }
    return Optional.of(
        new PoolRefusal(
            Cause.NOT_PRIVATE,
            Files.isSymbolicLink(file.path())
                ? file.path() + " is a symbolic link"
                : "%s belongs to user %d with %s"
                    .formatted(file.path(), owner, PosixFilePermissions.toString(allowed)),
            "delete it, or name a file that nobody else may read or write"));
  }

  private Optional<PoolRefusal> examine(DiskFile file) throws NativeException, IOException {
    Optional<PoolRefusal> shared = othersMayUse(file);
    if (shared.isPresent()) {
      return shared;
    }
    long length = file.bytes();
    if (length == 0) {
      freshBecause = path + " was empty";
      return Optional.empty();
    }
    FirstPage<PoolHeader> page = new FirstPage.Foreign<>();
    if (length >= PoolHeader.BYTES) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment first = arena.allocate(PoolHeader.BYTES, PoolHeader.BYTES);
        int result = file.read(first, 0);
        if (result < 0) {
          throw new NativeException("pread", Errno.of(-result), path.toString());
        }
        page = PoolHeader.read(first);
      }
    }
    return switch (page) {
      case FirstPage.Foreign<PoolHeader> _ ->
          Optional.of(
              new PoolRefusal(
                  Cause.NOT_OURS,
                  path + " holds something that is not a pool of OrbitKV",
                  "name another file, or delete this one"));
      case FirstPage.Unusable<PoolHeader>(String why) -> {
        freshBecause = path + ": " + why;
        yield Optional.empty();
      }
      case FirstPage.Valid<PoolHeader>(PoolHeader header) -> {
        compare(header, length);
        yield Optional.empty();
      }
    };
  }

  private void compare(PoolHeader header, long length) {
    found = header;
    if (header.poolBytes() != poolBytes) {
      freshBecause =
          "%s held a pool of %d bytes, now it is to hold %d"
              .formatted(path, header.poolBytes(), poolBytes);
    } else if (length < header.poolOffset() + header.poolBytes()) {
      freshBecause = "%s was cut to %d bytes".formatted(path, length);
    } else if (header.epoch() != lastEpoch && header.epoch() != lastEpoch + 1) {
      // Equal after a run; one more after a start that died before its first fact.
      freshBecause =
          "%s was used last in epoch %d, the journal's last is %d: it is another journal's, or a"
                  .formatted(path, header.epoch(), lastEpoch)
              + " run without it came between";
    }
  }

  // ---- making it usable
  // --------------------------------------------------------------------------------------------

  private long poolOffset(long unit) {
    PoolHeader before = found;
    return freshBecause.isEmpty() && before != null ? before.poolOffset() : unit;
  }

  private PoolFile finish(DiskFile file, long offset, long fileBytes, boolean there)
      throws NativeException, IOException {
    PoolHeader before = found;
    if (file.bytes() > fileBytes) {
      file.truncate(fileBytes);
    }
    if (file.bytes() < fileBytes || file.allocatedBytes() < fileBytes) {
      file.allocate(fileBytes);
    }
    Mapping mapping = Mapping.shared(file.descriptor(), 0, fileBytes, options);
    try {
      UUID id = freshBecause.isEmpty() && before != null ? before.poolId() : freshId;
      PoolHeader header = new PoolHeader(id, poolBytes, offset, lastEpoch + 1);
      header.write(mapping.segment());
      if (!there) {
        Files.move(unfinished(), path, StandardCopyOption.ATOMIC_MOVE);
      }
      return new PoolFile(file, path, mapping, header, freshBecause);
    } catch (IOException | RuntimeException failed) {
      mapping.close();
      throw failed;
    }
  }

  // ---- refusals
  // ----------------------------------------------------------------------------------------------------

  private static PoolOpening refused(Cause cause, String message, String remedy) {
    return new PoolOpening.Refused(new PoolRefusal(cause, message, remedy));
  }

  private PoolRefusal inUse() {
    return new PoolRefusal(
        Cause.IN_USE,
        path + " is in use by another process",
        "stop the other Manager, or name another file");
  }

  private PoolRefusal refusal(NativeException failed) {
    String message = path + ": " + failed.getMessage();
    return switch (failed.errno().symbol()) {
      case "ENOSPC", "EDQUOT", "ENOMEM" ->
          new PoolRefusal(Cause.NO_SPACE, message, NO_SPACE_REMEDY);
      default ->
          new PoolRefusal(
              Cause.BAD_PATH, message, "name a regular file, or a folder, that may be written");
    };
  }

  /** Taking more than there is would take all of it from everybody else until it fails. */
  private PoolRefusal tooLarge(long missingBytes, long freeBytes) {
    return new PoolRefusal(
        Cause.NO_SPACE,
        "%s needs %d bytes more, and its file system has %d free"
            .formatted(path, missingBytes, freeBytes),
        NO_SPACE_REMEDY);
  }

  /** Takes back what was made; what cannot be deleted is named in the refusal. */
  private PoolRefusal takeBack(@Nullable DiskFile file, PoolRefusal refusal) {
    if (file == null) {
      return refusal;
    }
    String message = refusal.message();
    try (file) {
      if (file.path().equals(unfinished())) {
        Files.deleteIfExists(file.path());
      }
    } catch (IOException failed) {
      message += "; " + file.path() + " was made and cannot be deleted: " + failed.getMessage();
    }
    return new PoolRefusal(refusal.cause(), message, refusal.remedy());
  }
}
