package io.orbitkv.core.pool;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.Mapping;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * A pool in a file of tmpfs or hugetlbfs: memory that outlives the daemon, locked against a second
 * one. The file begins with a {@link PoolHeader}; the pool begins at the next multiple of 2 MiB, or
 * of the file system's page if that is larger.
 */
public final class PoolFile implements AutoCloseable {
  /** Its name in a folder. */
  public static final String NAME = "orbitkv.pool";

  /** The file that an operator means: the path, or the one of our name where it is a folder. */
  public static Path at(Path named) {
    Path absolute = named.toAbsolutePath();
    return Files.isDirectory(absolute) ? absolute.resolve(NAME) : absolute;
  }

  private final DiskFile file;
  private final Path path;
  private final Mapping mapping;
  private final PoolHeader header;
  private final String freshBecause;

  PoolFile(DiskFile file, Path path, Mapping mapping, PoolHeader header, String freshBecause) {
    this.file = file;
    this.path = path;
    this.mapping = mapping;
    this.header = header;
    this.freshBecause = freshBecause;
  }

  public UUID id() {
    return header.poolId();
  }

  public Path path() {
    return path;
  }

  /** Why nothing that an earlier run left is in it; empty if something may be. */
  public String freshBecause() {
    return freshBecause;
  }

  /** The pool, without the header. */
  MemorySegment memory() {
    return mapping.segment().asSlice(header.poolOffset(), header.poolBytes());
  }

  String description() {
    return mapping.report().describe();
  }

  /** Unmaps and unlocks it; the file stays. */
  @Override
  public void close() {
    try (file) {
      mapping.close();
    }
  }
}
