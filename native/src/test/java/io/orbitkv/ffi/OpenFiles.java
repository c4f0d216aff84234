package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Counts this process's descriptors, to show that a test leaves none behind. */
final class OpenFiles {
  private OpenFiles() {}

  static long count() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }
}
