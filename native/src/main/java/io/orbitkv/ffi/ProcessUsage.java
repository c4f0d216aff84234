package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds, to show that it returns to its baseline.
 *
 * @param openFiles its descriptors
 * @param mappings its mapped areas
 * @param residentBytes its resident memory
 */
public record ProcessUsage(int openFiles, int mappings, long residentBytes) {
  /** Of this process. The count of descriptors does not include the one that reads them. */
  public static ProcessUsage self() throws IOException {
    ProcessUsage usage = of(Path.of("/proc/self"));
    return new ProcessUsage(usage.openFiles - 1, usage.mappings, usage.residentBytes);
  }

  /**
   * Of another process.
   *
   * @throws IOException if it is gone or belongs to another user
   */
  public static ProcessUsage of(long pid) throws IOException {
    return of(Path.of("/proc", Long.toString(pid)));
  }

  private static ProcessUsage of(Path process) throws IOException {
    int openFiles;
    try (Stream<Path> files = Files.list(process.resolve("fd"))) {
      openFiles = (int) files.count();
    }
    int mappings;
    try (Stream<String> areas = Files.lines(process.resolve("maps"))) {
      mappings = (int) areas.count();
    }
    String[] pages = Files.readString(process.resolve("statm")).split(" ", -1);
    return new ProcessUsage(openFiles, mappings, Long.parseLong(pages[1]) * PageSize.BYTES);
  }
}
