package io.orbitkv.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads a journal directory without writing to it: one that a Manager is appending to, a copy, or
 * one on a read-only disk.
 */
public final class JournalReader {
  private final Path dir;

  private JournalReader(Path dir) {
    this.dir = dir;
  }

  /**
   * Looks at a directory.
   *
   * @throws IOException when it is no directory or cannot be read
   */
  public static JournalReader open(Path dir) throws IOException {
    if (!Files.isDirectory(dir)) {
      throw new NoSuchFileException(dir.toString(), null, "no journal directory");
    }
    return new JournalReader(dir);
  }

  public Path dir() {
    return dir;
  }

  /** The parts, oldest first. */
  public List<PartInfo> parts() throws IOException {
    List<PartInfo> parts = new ArrayList<>();
    for (Map.Entry<Long, Path> entry : Layout.parts(dir).entrySet()) {
      Optional<FirstFact> first = firstFact(entry.getValue(), true);
      parts.add(
          new PartInfo(
              entry.getKey(),
              entry.getValue(),
              first.map(FirstFact::position).orElse(0L),
              first.map(FirstFact::atMicros).orElse(0L),
              sizeOf(Layout.facts(entry.getValue()))));
    }
    return parts;
  }

  /** Position of the oldest fact that is still there, 0 when there is none. */
  public long firstPosition() throws IOException {
    return parts().stream()
        .mapToLong(PartInfo::firstPosition)
        .filter(position -> position != 0)
        .findFirst()
        .orElse(0);
  }

  /** The identity that every part carries; empty when no part can be read. */
  public Optional<UUID> journalId() throws IOException {
    for (Path part : Layout.parts(dir).values()) {
      try (PartReader reader = PartReader.open(part)) {
        if (reader.next() == PartReader.Step.RECORD
            && reader.record().type() == FactType.PART_OPENED) {
          return Optional.of(reader.record().partOpened().journalId());
        }
      } catch (NoSuchFileException e) {
        // The process died while it made this part, or retention deleted it: another part will do.
      }
    }
    return Optional.empty();
  }

  /**
   * All facts from a position on, or from the oldest one that is still there.
   *
   * @param position at least 1
   */
  public FactCursor from(long position) throws IOException {
    return at(position, 0, false);
  }

  /** All facts from the first one at or after a time, in microseconds since 1970. */
  public FactCursor fromTime(long atMicros) throws IOException {
    return at(1, atMicros, false);
  }

  /**
   * Like {@link #from}, and after {@link FactCursor.Step#END} goes on with what was appended
   * meanwhile.
   */
  public FactCursor follow(long position) throws IOException {
    return at(position, 0, true);
  }

  private FactCursor at(long position, long atMicros, boolean follow) throws IOException {
    long start = 0;
    for (PartInfo part : parts()) {
      boolean before =
          atMicros == 0 ? part.firstPosition() <= position : part.firstAtMicros() <= atMicros;
      if (start == 0 || (part.firstPosition() != 0 && before)) {
        start = part.number();
      }
    }
    return new FactCursor(dir, start, follow, position, atMicros);
  }

  /** Where and when a part's facts begin. */
  record FirstFact(long position, long atMicros) {}

  /**
   * The first whole fact of a part, whatever is damaged before it.
   *
   * @param thorough whether to look behind an empty document header too
   */
  static Optional<FirstFact> firstFact(Path part, boolean thorough) throws IOException {
    try (PartReader reader = PartReader.open(part)) {
      for (; ; ) {
        PartReader.Step step = reader.next();
        if (step == PartReader.Step.RECORD) {
          RecordView record = reader.record();
          if (record.type() != FactType.PART_OPENED) {
            return Optional.of(new FirstFact(record.position(), record.atMicros()));
          }
        } else if ((step == PartReader.Step.END && !thorough) || !reader.resynchronize(1)) {
          return Optional.empty();
        }
      }
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static long sizeOf(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
