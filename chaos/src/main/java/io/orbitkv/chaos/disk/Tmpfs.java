package io.orbitkv.chaos.disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A small file system of its own, which a ballast file can fill to the last block. */
public final class Tmpfs implements AutoCloseable {
  private final Path at;

  private Tmpfs(Path at) {
    this.at = at;
  }

  /**
   * Mounts one.
   *
   * @param at an existing empty folder
   * @throws IOException if this user or this system cannot mount
   */
  public static Tmpfs mount(Path at, int mebibytes) throws IOException, InterruptedException {
    run(List.of("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "tmpfs", at.toString()));
    return new Tmpfs(at);
  }

  /** Where it is mounted. */
  public Path path() {
    return at;
  }

  /** Takes every block that is left. */
  void fill() throws IOException {
    try (OutputStream ballast = Files.newOutputStream(ballast())) {
      byte[] zeros = new byte[4096];
      while (true) {
        try {
          ballast.write(zeros);
        } catch (IOException full) {
          return;
        }
      }
    }
  }

  /** Gives them back. */
  void free() throws IOException {
    Files.deleteIfExists(ballast());
  }

  private Path ballast() {
    return at.resolve("ballast");
  }

  static void run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + said.strip());
    }
  }

  @Override
  public void close() throws IOException {
    try {
      run(List.of("umount", "-l", at.toString()));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
