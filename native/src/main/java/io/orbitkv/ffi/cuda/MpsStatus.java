package io.orbitkv.ffi.cuda;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether NVIDIA's Multi-Process Service runs. Without it the processes of a GPU take turns, so a
 * kernel of one process stops those of the others; with it they run side by side.
 */
public enum MpsStatus {
  RUNNING,
  NOT_RUNNING;

  private static final String CONTROL = "nvidia-cuda-mps-control";

  /** Looks for the control daemon among the processes that can be seen. */
  public static MpsStatus read() {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (Path process : processes) {
        if (commandLine(process).contains(CONTROL)) {
          return RUNNING;
        }
      }
    } catch (IOException unreadable) {
      return NOT_RUNNING;
    }
    return NOT_RUNNING;
  }

  private static String commandLine(Path process) {
    try {
      String line = Files.readString(process.resolve("cmdline"));
      int end = line.indexOf('\0');
      return end < 0 ? line : line.substring(0, end);
    } catch (IOException gone) {
      return "";
    }
  }
}
