package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads the small text formats of {@code /proc} and {@code /sys}. */
final class ProcFile {
  private ProcFile() {}

  /** The value of a {@code Name: 123 kB} line in bytes. */
  static long kibibytesLine(Path file, String name) throws IOException {
    String value = line(file, name);
    int end = value.indexOf(' ');
    return Long.parseLong(end < 0 ? value : value.substring(0, end)) * 1024;
  }

  /** What follows the colon on the first line of this name. */
  static String line(Path file, String name) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.contains(":"))
          .filter(line -> line.substring(0, line.indexOf(':')).strip().equals(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElseThrow(() -> new IOException(file + " has no line " + name));
    }
  }

  /** Expands a list such as {@code 0-3,8}. */
  static List<Integer> numberList(String text) {
    List<Integer> numbers = new ArrayList<>();
    for (String range : text.strip().split(",", -1)) {
      if (range.isEmpty()) {
        continue;
      }
      int dash = range.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
      int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
      for (int number = first; number <= last; number++) {
        numbers.add(number);
      }
    }
    return List.copyOf(numbers);
  }
}
