package io.orbitkv.manager.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the unified log of a JVM that runs ZGC with {@link #flags}: the heap in use after each
 * timed major collection, and every pause.
 */
final class GcLog {
  private static final long MIB = 1 << 20;
  private static final Pattern MAJOR_END =
      Pattern.compile("GC\\(\\d+\\) O: Old Generation \\d+M\\(\\d+%\\)->(\\d+)M\\(");
  private static final Pattern LIVE = Pattern.compile("GC\\((\\d+)\\) [YO]: +Live: +- +(\\d+)M");
  private static final Pattern PAUSE = Pattern.compile("GC\\(\\d+\\) .*Pause .* (\\d+\\.\\d+)ms");

  private final Path file;

  GcLog(Path file) {
    this.file = file;
  }

  /** JVM flags that write the log and collect everything every so many seconds. */
  List<String> flags(int majorSeconds) {
    return List.of(
        "-XX:ZCollectionIntervalMajor=" + majorSeconds, "-Xlog:gc*:file=" + file + "::filecount=0");
  }

  /** Major collections so far. */
  int majors() throws IOException {
    return (int) lines().stream().filter(line -> MAJOR_END.matcher(line).find()).count();
  }

  /** The least heap in use after one of the last {@code count} major collections, in bytes. */
  OptionalLong leastUsedBytes(int count) throws IOException {
    long[] used =
        lines().stream()
            .map(MAJOR_END::matcher)
            .filter(Matcher::find)
            .mapToLong(matcher -> Long.parseLong(matcher.group(1)) * MIB)
            .toArray();
    OptionalLong least = OptionalLong.empty();
    for (int i = Math.max(0, used.length - count); i < used.length; i++) {
      least = OptionalLong.of(Math.min(used[i], least.orElse(Long.MAX_VALUE)));
    }
    return least;
  }

  /**
   * The least heap that one of the last {@code count} major collections found alive in both
   * generations, in bytes.
   */
  OptionalLong leastLiveBytes(int count) throws IOException {
    Map<Integer, Long> live = new TreeMap<>();
    for (String line : lines()) {
      Matcher matcher = LIVE.matcher(line);
      if (matcher.find()) {
        long bytes = Long.parseLong(matcher.group(2)) * MIB;
        live.merge(Integer.parseInt(matcher.group(1)), bytes, Long::sum);
      }
    }
    // A collection that is not over has told of one generation only.
    int whole = Math.min(majors(), live.size());
    return live.values().stream()
        .limit(whole)
        .skip(Math.max(0, whole - count))
        .mapToLong(Long::longValue)
        .min();
  }

  /** Every pause so far, in nanoseconds. */
  long[] pausesNanos() throws IOException {
    return lines().stream()
        .map(PAUSE::matcher)
        .filter(Matcher::find)
        .mapToLong(matcher -> Math.round(Double.parseDouble(matcher.group(1)) * 1e6))
        .toArray();
  }

  private List<String> lines() throws IOException {
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }
}
