package io.orbitkv.manager.replay;

import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.config.FileTrouble;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file that a person wants written: outside the journal, which nothing here changes. What goes
 * wrong with it is a {@link Failure} that names it, so that the journal is not blamed.
 */
public final class OutputFile {
  private static final String REMEDY =
      "Name a file in a folder that exists and that this user may write, outside the journal's.";

  private final Path path;

  private OutputFile(Path path) {
    this.path = path;
  }

  /**
   * Checks the place; nothing is written yet.
   *
   * @throws Failure when nothing can or may be written there
   */
  public static OutputFile of(Path file, JournalDir journal) {
    Path parent = file.toAbsolutePath().normalize().getParent();
    if (parent == null || Files.isDirectory(file)) {
      throw new Failure("cannot write " + file + ": it is a folder", REMEDY);
    }
    if (!Files.isDirectory(parent)) {
      throw new Failure("cannot write " + file + ": there is no folder " + parent, REMEDY);
    }
    if (Files.isSymbolicLink(file) && !Files.exists(file)) {
      throw new Failure("cannot write " + file + ": it is a link to nothing", REMEDY);
    }
    try {
      Path real = Files.exists(file) ? file.toRealPath() : parent.toRealPath();
      if (real.startsWith(journal.path().toRealPath())) {
        throw new Failure(
            "cannot write " + file + ": it lies in the journal, which replay never writes to",
            REMEDY);
      }
    } catch (IOException unknown) {
      throw failure(file, unknown);
    }
    return new OutputFile(file);
  }

  public Path path() {
    return path;
  }

  /** Bytes that it has. */
  public long size() {
    try {
      return Files.size(path);
    } catch (IOException gone) {
      throw failure(path, gone);
    }
  }

  void write(String text) {
    try {
      Files.writeString(path, text);
    } catch (IOException failed) {
      throw failure(path, failed);
    }
  }

  /** A stream into it that fails by {@link Failure}. */
  OutputStream open() {
    try {
      return new Stream(path, Files.newOutputStream(path));
    } catch (IOException failed) {
      throw failure(path, failed);
    }
  }

  private static Failure failure(Path file, IOException failed) {
    return new Failure("cannot write " + file + ": " + FileTrouble.text(failed), REMEDY, failed);
  }

  private static final class Stream extends FilterOutputStream {
    private final Path path;

    Stream(Path path, OutputStream out) {
      super(out);
      this.path = path;
    }

    @Override
    public void write(int value) {
      try {
        out.write(value);
      } catch (IOException failed) {
        throw failure(path, failed);
      }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      try {
        out.write(bytes, offset, length);
      } catch (IOException failed) {
        throw failure(path, failed);
      }
    }

    @Override
    public void close() {
      try {
        out.close();
      } catch (IOException failed) {
        throw failure(path, failed);
      }
    }
  }
}
