package io.orbitkv.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The names inside a journal directory.
 *
 * <pre>
 * DIR/lock                                    held while a Manager appends
 * DIR/part-000001/19700101F.cq4               the facts: one Chronicle Queue of one file
 * DIR/part-000001/metadata.cq4t               Chronicle's own; not needed to read the facts
 * DIR/checkpoint-00000000000000012345         the state after fact 12,345
 * DIR/checkpoint-00000000000000012345.tmp     one that was being written when the process died
 * </pre>
 */
final class Layout {
  static final String LOCK = "lock";

  /**
   * Every part is a queue whose clock stands still, so its one file is named after the first day of
   * 1970.
   */
  static final String FACTS_FILE = "19700101F.cq4";

  static final String METADATA_FILE = "metadata.cq4t";

  private static final Pattern PART = Pattern.compile("part-(\\d{6,18})");
  private static final Pattern CHECKPOINT = Pattern.compile("checkpoint-(\\d{20})");
  private static final Pattern TEMPORARY = Pattern.compile("checkpoint-\\d+\\.tmp");

  private Layout() {}

  static Path part(Path dir, long number) {
    return dir.resolve("part-%06d".formatted(number));
  }

  static Path facts(Path part) {
    return part.resolve(FACTS_FILE);
  }

  static Path checkpoint(Path dir, long position) {
    return dir.resolve("checkpoint-%020d".formatted(position));
  }

  static Path temporary(Path checkpoint) {
    return checkpoint.resolveSibling(checkpoint.getFileName() + ".tmp");
  }

  /** Deletes checkpoints that a process began and did not end. Only for who holds the lock. */
  static void deleteTemporaries(Path dir) throws IOException {
    try (Stream<Path> children = Files.list(dir)) {
      for (Path child : children.toList()) {
        if (TEMPORARY.matcher(String.valueOf(child.getFileName())).matches()) {
          Files.deleteIfExists(child);
        }
      }
    }
  }

  /** The parts' directories by number. */
  static SortedMap<Long, Path> parts(Path dir) throws IOException {
    return numbered(dir, PART);
  }

  /** The checkpoints' files by position. */
  static SortedMap<Long, Path> checkpoints(Path dir) throws IOException {
    return numbered(dir, CHECKPOINT);
  }

  private static SortedMap<Long, Path> numbered(Path dir, Pattern pattern) throws IOException {
    SortedMap<Long, Path> found = new TreeMap<>();
    try (Stream<Path> children = Files.list(dir)) {
      children.forEach(path -> number(path, pattern).ifPresent(number -> found.put(number, path)));
    }
    return found;
  }

  private static Optional<Long> number(Path path, Pattern pattern) {
    Matcher matcher = pattern.matcher(String.valueOf(path.getFileName()));
    return matcher.matches() ? Optional.of(Long.parseLong(matcher.group(1))) : Optional.empty();
  }

  /** Makes names in a directory survive a power cut. */
  static void syncDirectory(Path dir) throws IOException {
    try (FileChannel channel = FileChannel.open(dir, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Deletes a part and what is in it, files first; one that is gone already is well. */
  static void deletePart(Path part) throws IOException {
    try (Stream<Path> children = Files.list(part)) {
      for (Path child : children.toList()) {
        Files.deleteIfExists(child);
      }
    } catch (NoSuchFileException gone) {
      return;
    }
    Files.deleteIfExists(part);
  }
}
