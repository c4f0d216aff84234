package io.orbitkv.ffi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads {@code /proc/self/smaps}, which tells how many huge pages really back a range. */
final class Smaps {
  private static final Path FILE = Path.of("/proc/self/smaps");

  private Smaps() {}

  /**
   * Bytes of transparent huge pages in a range. The kernel counts by area and may have joined the
   * range with one beside it that is used alike; what is in the neighbour is counted too then, up
   * to the size of the range.
   */
  static long hugeBytes(long address, long bytes) {
    long sum = 0;
    boolean inside = false;
    try (BufferedReader reader = Files.newBufferedReader(FILE)) {
      for (@Nullable String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.startsWith("AnonHugePages:") || line.startsWith("ShmemPmdMapped:")) {
          sum += inside ? kibibytes(line) * 1024 : 0;
        } else if (isHeader(line)) {
          int dash = line.indexOf('-');
          long start = Long.parseUnsignedLong(line, 0, dash, 16);
          long end = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
          inside = start < address + bytes && end > address;
        }
      }
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
    return Math.min(sum, bytes);
  }

  private static boolean isHeader(String line) {
    char first = line.charAt(0);
    return (first >= '0' && first <= '9') || (first >= 'a' && first <= 'f');
  }

  private static long kibibytes(String line) {
    String value = line.substring(line.indexOf(':') + 1).strip();
    return Long.parseLong(value, 0, value.indexOf(' '), 10);
  }
}
