package io.orbitkv.core.ssd.device;

import io.orbitkv.core.file.FirstPage;
import io.orbitkv.core.ssd.device.SsdRefusal.Cause;
import io.orbitkv.ffi.DirectIo;
import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Shortfall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Opens the files of a tier, once.
 *
 * <p>A new file is made under its name with {@value #UNFINISHED} behind, gets its space and its
 * header, is brought to the disk, and only then gets its name. So whatever carries the name is
 * whole, and a file of another kind is never taken for one that a crash left unfinished.
 */
final class SsdFilesOpener {
  private static final String UNFINISHED = ".unfinished";
  private static final String NO_SPACE_REMEDY =
      "lower the tier's capacity, free space, or name a file on another disk";

  private final List<SsdFileSpec> specs;
  private final UUID freshTierId;
  private final List<DiskFile> locks = new ArrayList<>();
  private final List<DiskFile> files = new ArrayList<>();
  private final Map<Integer, SsdHeader> headers = new HashMap<>();
  private final List<Path> made = new ArrayList<>();
  private final List<Shortfall> shortfalls = new ArrayList<>();
  private String freshBecause = "";
  private @Nullable UUID foundTierId;

  SsdFilesOpener(List<SsdFileSpec> specs, UUID freshTierId) {
    if (specs.isEmpty()) {
      throw new IllegalArgumentException("a tier has at least one file");
    }
    this.specs = List.copyOf(specs);
    this.freshTierId = freshTierId;
  }

  SsdOpening<SsdFiles> open() {
    Optional<SsdRefusal> refusal = Optional.empty();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(SsdHeader.BYTES, SsdDevice.ALIGNMENT_BYTES);
      for (int i = 0; i < specs.size() && refusal.isEmpty(); i++) {
        refusal = openOne(i, page);
      }
      UUID tierId = freshBecause.isEmpty() && foundTierId != null ? foundTierId : freshTierId;
      for (int i = 0; i < specs.size() && refusal.isEmpty(); i++) {
        refusal = finishOne(i, tierId, page);
      }
      if (refusal.isEmpty()) {
        List<Long> bytes = specs.stream().map(SsdFileSpec::bytes).toList();
        return new SsdOpening.Opened<>(
            new SsdFiles(tierId, freshBecause, files, locks, bytes, shortfalls));
      }
    }
    SsdFiles.closeAll(files, locks);
    return new SsdOpening.Refused<>(withoutMade(refusal.get()));
  }

  /** The path of a file: named by the operator, or in a folder that was. */
  private Path path(int file) {
    Path path = specs.get(file).path().toAbsolutePath();
    return Files.isDirectory(path) ? path.resolve(SsdFileSpec.NAME) : path;
  }

  /** The path without links and dots, as far as it leads to something. */
  private static Path place(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException notThere) {
      Path folder = path.getParent();
      try {
        return folder == null ? path : folder.toRealPath().resolve(path.getFileName());
      } catch (IOException nothing) {
        return path.normalize();
      }
    }
  }

  private static Path unfinished(Path path) {
    return path.resolveSibling(path.getFileName() + UNFINISHED);
  }

  /** Opens and locks a file, or begins a new one, and finds out whether its tier goes on. */
  private Optional<SsdRefusal> openOne(int file, MemorySegment page) {
    Path path = path(file);
    for (int earlier = 0; earlier < file; earlier++) {
      if (place(path(earlier)).equals(place(path))) {
        return Optional.of(
            new SsdRefusal(
                Cause.BAD_PATH, path + " is named twice", "name each file or folder once"));
      }
    }
    try {
      if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        freshBecause(path + " was not there");
        return begin(path);
      }
      DiskFile found = DiskFile.open(path);
      locks.add(found);
      if (!found.tryLock()) {
        return Optional.of(inUse(path));
      }
      return examine(found, file, page);
    } catch (NativeException failed) {
      return Optional.of(refusal(path, failed));
    }
  }

  private Optional<SsdRefusal> begin(Path path) throws NativeException {
    Path unfinished = unfinished(path);
    DiskFile begun;
    try {
      begun = DiskFile.create(unfinished);
    } catch (NativeException failed) {
      if (!failed.is(Errno.EEXIST)) {
        throw failed;
      }
      begun = DiskFile.open(unfinished);
    }
    locks.add(begun);
    if (!begun.tryLock()) {
      return Optional.of(inUse(path));
    }
    made.add(unfinished);
    begun.truncate(0);
    return Optional.empty();
  }

  private Optional<SsdRefusal> examine(DiskFile found, int file, MemorySegment page)
      throws NativeException {
    Path path = found.path();
    long length = found.bytes();
    if (length == 0) {
      freshBecause(path + " was empty");
      return Optional.empty();
    }
    int result = found.read(page, 0);
    if (result < 0) {
      throw new NativeException("pread", Errno.of(-result), path.toString());
    }
    FirstPage<SsdHeader> first =
        result < SsdHeader.BYTES ? new FirstPage.Foreign<>() : SsdHeader.read(page);
    return switch (first) {
      case FirstPage.Foreign<SsdHeader> _ ->
          Optional.of(
              new SsdRefusal(
                  Cause.NOT_OURS,
                  path + " holds something that is not an SSD tier of OrbitKV",
                  "name another file, or delete this one"));
      case FirstPage.Unusable<SsdHeader> unusable -> {
        freshBecause(path + ": " + unusable.why());
        yield Optional.empty();
      }
      case FirstPage.Valid<SsdHeader> valid -> {
        compare(path, file, length, valid.header());
        yield Optional.empty();
      }
    };
  }

  private void compare(Path path, int file, long length, SsdHeader header) {
    headers.put(file, header);
    if (header.file() != file || header.files() != specs.size()) {
      freshBecause(
          "%s was file %d of %d, now it is %d of %d"
              .formatted(path, header.file() + 1, header.files(), file + 1, specs.size()));
    }
    if (foundTierId != null && !foundTierId.equals(header.tierId())) {
      freshBecause(path + " belonged to another tier");
    }
    foundTierId = header.tierId();
    long bytes = specs.get(file).bytes();
    if (length < header.bytes()) {
      freshBecause("%s had %d of its %d bytes".formatted(path, length, header.bytes()));
    } else if (bytes < header.bytes()) {
      freshBecause("%s was made smaller, from %d bytes".formatted(path, header.bytes()));
    }
  }

  /** The first reason stays. */
  private void freshBecause(String reason) {
    if (freshBecause.isEmpty()) {
      freshBecause = reason;
    }
  }

  /** Reserves a file's space, writes its header, gives it its name, opens it for the device. */
  private Optional<SsdRefusal> finishOne(int file, UUID tierId, MemorySegment page) {
    DiskFile lock = locks.get(file);
    Path path = path(file);
    long bytes = specs.get(file).bytes();
    try {
      if (lock.bytes() > bytes) {
        lock.truncate(bytes);
      }
      Optional<SsdRefusal> tooLarge = requireSpace(path, bytes - lock.bytes());
      if (tooLarge.isPresent()) {
        return tooLarge;
      }
      lock.allocate(bytes);
      SsdHeader header = new SsdHeader(tierId, file, specs.size(), bytes);
      if (!header.equals(headers.get(file))) {
        writeHeader(lock, header, page);
      }
      if (!lock.path().equals(path)) {
        Files.move(lock.path(), path, StandardCopyOption.ATOMIC_MOVE);
        made.set(made.indexOf(lock.path()), path);
        syncFolder(path);
      }
      files.add(openForDevice(path, page));
      return Optional.empty();
    } catch (NativeException failed) {
      return Optional.of(refusal(path, failed));
    } catch (IOException failed) {
      return Optional.of(
          new SsdRefusal(Cause.DISK, path + ": " + failed.getMessage(), "look at the disk"));
    }
  }

  /**
   * Reserving more than there is would take all of it from everybody else on the disk until it
   * fails.
   */
  private static Optional<SsdRefusal> requireSpace(Path path, long missingBytes) {
    Path folder = path.getParent();
    if (folder == null || missingBytes <= 0) {
      return Optional.empty();
    }
    long freeBytes;
    try {
      freeBytes = FileSystemSpace.ofPath(folder.toString()).freeBytes();
    } catch (NativeException unknown) {
      return Optional.empty(); // the reservation itself finds out
    }
    return missingBytes <= freeBytes
        ? Optional.empty()
        : Optional.of(
            new SsdRefusal(
                Cause.NO_SPACE,
                "%s needs %d bytes more, and its disk has %d free"
                    .formatted(path, missingBytes, freeBytes),
                NO_SPACE_REMEDY));
  }

  private static void writeHeader(DiskFile file, SsdHeader header, MemorySegment page)
      throws NativeException {
    header.write(page);
    int written = file.write(page, 0);
    if (written != SsdHeader.BYTES) {
      Errno errno = written < 0 ? Errno.of(-written) : Errno.EIO;
      throw new NativeException("pwrite", errno, "the header of " + file.path());
    }
    file.sync();
  }

  private DiskFile openForDevice(Path path, MemorySegment page) throws NativeException {
    DirectIo offered;
    try (DiskFile probe = DiskFile.open(path)) {
      offered = DirectIo.of(probe);
    }
    String why = "";
    if (offered.refused()) {
      why = "its file system does not offer it";
    } else if (!offered.allows(SsdDevice.ALIGNMENT_BYTES)) {
      why =
          "it takes offsets in multiples of %d and memory in multiples of %d bytes"
              .formatted(offered.offsetAlignment(), offered.memoryAlignment());
    } else {
      try {
        DiskFile direct = DiskFile.openDirect(path);
        int result = direct.read(page, 0);
        if (result == SsdHeader.BYTES) {
          return direct;
        }
        direct.close();
        why = "a trial read gave " + result(result);
      } catch (NativeException refused) {
        why = String.valueOf(refused.getMessage());
      }
    }
    shortfalls.add(
        new Shortfall(
            "O_DIRECT on " + path,
            "reads and writes through the page cache, which keeps a second copy of what is read",
            why,
            "put the file on ext4 or XFS on a disk with sectors of at most 4096 bytes"));
    return DiskFile.open(path);
  }

  /** A rename survives a power cut once its folder is on the disk. */
  private static void syncFolder(Path path) throws IOException {
    Path folder = path.getParent();
    if (folder != null) {
      try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /** Takes back what was made; what cannot be deleted is named in the refusal. */
  private SsdRefusal withoutMade(SsdRefusal refusal) {
    String message = refusal.message();
    for (Path each : made) {
      try {
        Files.deleteIfExists(each);
      } catch (IOException failed) {
        message += "; " + each + " was made and cannot be deleted: " + failed.getMessage();
      }
    }
    return new SsdRefusal(refusal.cause(), message, refusal.remedy());
  }

  private SsdRefusal refusal(Path path, NativeException failed) {
    String message = path + ": " + failed.getMessage();
    return switch (failed.errno().symbol()) {
      case "ENOSPC", "EDQUOT" -> new SsdRefusal(Cause.NO_SPACE, message, NO_SPACE_REMEDY);
      case "EOPNOTSUPP" ->
          new SsdRefusal(
              Cause.NOT_RESERVABLE,
              message + ": its file system cannot reserve space",
              "put the file on ext4, XFS or another file system with fallocate");
      case "EFBIG" ->
          new SsdRefusal(
              Cause.NOT_RESERVABLE, message, "use several smaller files, or another file system");
      case "EIO", "EUCLEAN", "ENXIO" -> new SsdRefusal(Cause.DISK, message, "look at the disk");
      default ->
          new SsdRefusal(
              Cause.BAD_PATH, message, "name a regular file, or a folder, that may be written");
    };
  }

  private static SsdRefusal inUse(Path path) {
    return new SsdRefusal(
        Cause.IN_USE,
        path + " is in use by another process",
        "stop the other Manager, or name another file");
  }

  private static String result(int result) {
    return result < 0 ? Errno.of(-result).toString() : result + " bytes";
  }
}
