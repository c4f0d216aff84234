package io.orbitkv.chaos.disk;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;

/** An ext4 of its own, in a file through a loop device, which can be frozen: then no write ends. */
public final class LoopDisk implements AutoCloseable {
  private static final int MEBIBYTE = 1 << 20;

  private final Path at;
  private boolean frozen;

  private LoopDisk(Path at) {
    this.at = at;
  }

  /**
   * Makes and mounts one.
   *
   * @param image a file that is made
   * @param at an existing empty folder
   * @throws IOException if this user or this system cannot do so
   */
  public static LoopDisk mount(Path image, Path at, int mebibytes)
      throws IOException, InterruptedException {
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength((long) mebibytes * MEBIBYTE);
    }
    Tmpfs.run(List.of("mkfs.ext4", "-q", image.toString()));
    Tmpfs.run(List.of("mount", "-o", "loop", image.toString(), at.toString()));
    return new LoopDisk(at);
  }

  /** Where it is mounted. */
  public Path path() {
    return at;
  }

  /** Holds back every write from now on. */
  public void freeze() throws IOException, InterruptedException {
    Tmpfs.run(List.of("fsfreeze", "--freeze", at.toString()));
    frozen = true;
  }

  /** Lets them go on. */
  public void thaw() throws IOException, InterruptedException {
    frozen = false;
    Tmpfs.run(List.of("fsfreeze", "--unfreeze", at.toString()));
  }

  @Override
  public void close() throws IOException {
    try {
      if (frozen) {
        thaw();
      }
      Tmpfs.run(List.of("umount", "-l", at.toString()));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
