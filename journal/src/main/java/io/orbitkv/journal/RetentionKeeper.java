package io.orbitkv.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Deletes what a {@link Retention} no longer wants, once.
 *
 * <p>The journal that is left must be foldable from its first fact on. So parts are deleted only up
 * to a part's end at which a checkpoint stands, and that checkpoint is read and found whole right
 * before. With the parts go the older checkpoints, of which nothing could be folded any more.
 */
final class RetentionKeeper {
  /**
   * What a journal takes on the disk.
   *
   * @param bytes of complete parts and of all checkpoints
   * @param parts how many parts are complete
   */
  record Usage(long bytes, int parts) {}

  private final Path dir;
  private final Retention retention;

  RetentionKeeper(Path dir, Retention retention) {
    this.dir = dir;
    this.retention = retention;
  }

  /** Counts; the part {@code livePart} is being written and those before it are complete. */
  static Usage usage(Path dir, long livePart) throws IOException {
    long bytes = 0;
    for (Path checkpoint : Layout.checkpoints(dir).values()) {
      bytes += Files.size(checkpoint);
    }
    Collection<Path> complete = Layout.parts(dir).headMap(livePart).values();
    for (Path part : complete) {
      bytes += Files.size(Layout.facts(part));
    }
    return new Usage(bytes, complete.size());
  }

  /** Deletes what is not wanted any more, and answers how many parts with facts are left. */
  int run(long nowMillis) throws IOException {
    List<PartInfo> parts =
        JournalReader.open(dir).parts().stream().filter(part -> part.firstPosition() > 0).toList();
    NavigableMap<Long, Path> checkpoints = new TreeMap<>(Layout.checkpoints(dir));
    long bytes =
        parts.stream().limit(Math.max(0, parts.size() - 1L)).mapToLong(PartInfo::diskBytes).sum();
    for (Path checkpoint : checkpoints.values()) {
      bytes += Files.size(checkpoint);
    }
    int unwanted = unwanted(parts, checkpoints, bytes, nowMillis);
    int deleted = 0;
    // The last part that has facts, which may be the one that is being written, always stays.
    for (int i = Math.min(unwanted, parts.size() - 1) - 1; i >= 0; i--) {
      long end = parts.get(i + 1).firstPosition() - 1;
      Path checkpoint = checkpoints.get(end);
      if (checkpoint != null && isWhole(checkpoint)) {
        deleted = i + 1;
        delete(parts.subList(0, deleted), checkpoints.headMap(end, false));
        break;
      }
    }
    return parts.size() - deleted;
  }

  /** How many of the oldest parts are too old, or make the journal too large. */
  private int unwanted(
      List<PartInfo> parts, NavigableMap<Long, Path> checkpoints, long total, long nowMillis)
      throws IOException {
    long left = total;
    int count = 0;
    for (int i = 0; i + 1 < parts.size(); i++) {
      boolean tooLarge = left > retention.maxBytes();
      long endedMicros = parts.get(i + 1).firstAtMicros();
      boolean tooOld =
          retention.maxAge().isPresent()
              && endedMicros / 1000 < nowMillis - retention.maxAge().get().toMillis();
      if (!tooLarge && !tooOld) {
        break;
      }
      count++;
      left -= parts.get(i).diskBytes();
      long from = i == 0 ? 0 : parts.get(i).firstPosition() - 1;
      for (Path older :
          checkpoints.subMap(from, true, parts.get(i + 1).firstPosition() - 1, false).values()) {
        left -= Files.size(older);
      }
    }
    return count;
  }

  private static void delete(List<PartInfo> parts, Map<Long, Path> checkpoints) throws IOException {
    for (Path checkpoint : checkpoints.values()) {
      Files.delete(checkpoint);
    }
    for (PartInfo part : parts) {
      Layout.deletePart(part.path());
    }
  }

  /**
   * Deletes the checkpoints inside parts that a newer one stands in for; the newest two stay, so
   * that there is one to fall back to, and all at the ends of parts.
   */
  static void dropPassed(Path dir) throws IOException {
    SortedMap<Long, Path> checkpoints = Layout.checkpoints(dir);
    Set<Long> ends = new HashSet<>();
    for (PartInfo part : JournalReader.open(dir).parts()) {
      ends.add(part.firstPosition() - 1);
    }
    List<Long> positions = List.copyOf(checkpoints.keySet());
    for (long position : positions.subList(0, Math.max(0, positions.size() - 2))) {
      Path checkpoint = checkpoints.get(position);
      if (checkpoint != null && !ends.contains(position)) {
        Files.deleteIfExists(checkpoint);
      }
    }
  }

  private static boolean isWhole(Path checkpoint) throws IOException {
    try {
      Checkpoint.verify(checkpoint);
      return true;
    } catch (DamagedCheckpoint | NoSuchFileException e) {
      return false;
    }
  }
}
