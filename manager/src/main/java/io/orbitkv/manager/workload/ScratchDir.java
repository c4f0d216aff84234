package io.orbitkv.manager.workload;

import io.orbitkv.manager.cli.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A folder that is deleted when it is closed, or when the process ends first, unless it is kept.
 */
public final class ScratchDir implements AutoCloseable {
  private static final Set<ScratchDir> OPEN = ConcurrentHashMap.newKeySet();

  private final Path path;
  private volatile boolean kept;

  private ScratchDir(Path path) {
    this.path = path;
    OPEN.add(this);
  }

  /**
   * Makes one. Its path is short, because that of a socket in it may have 107 bytes.
   *
   * @param prefix what its name begins with
   * @throws Failure if it cannot be made
   */
  public static ScratchDir create(String prefix) {
    Path parent = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    boolean tooLong = parent.toString().length() > 60;
    return createIn(tooLong ? Path.of("/tmp") : parent, prefix);
  }

  /**
   * Makes one in a folder.
   *
   * @param parent null for where temporary folders are
   * @throws Failure if it cannot be made
   */
  public static ScratchDir create(@Nullable Path parent, String prefix) {
    return parent == null ? create(prefix) : createIn(parent, prefix);
  }

  private static ScratchDir createIn(Path parent, String prefix) {
    if (Children.stopping()) {
      throw new Failure("the process is ending", "");
    }
    try {
      return new ScratchDir(Files.createTempDirectory(parent, prefix));
    } catch (IOException failed) {
      throw new Failure(
          "cannot make a temporary folder: " + failed.getMessage(),
          "set ORBITKV_TMPDIR to a folder that can be written",
          failed);
    }
  }

  public Path path() {
    return path;
  }

  /** Leaves it there for good. */
  public void keep() {
    kept = true;
  }

  /** Deletes those that are open, when the process ends and its children are gone. */
  static void deleteOpen() {
    OPEN.forEach(ScratchDir::delete);
  }

  @Override
  public void close() {
    delete();
    OPEN.remove(this);
  }

  private synchronized void delete() {
    if (kept || !Files.exists(path)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(path)) {
      List<Path> deepestFirst = paths.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.deleteIfExists(each);
      }
    } catch (IOException | UncheckedIOException failed) {
      System.err.println("orbitkv: cannot delete " + path + ": " + failed.getMessage());
    }
  }
}
