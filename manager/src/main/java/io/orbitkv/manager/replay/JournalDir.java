package io.orbitkv.manager.replay;

import static java.util.stream.Collectors.joining;

import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.PartInfo;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.journal.UnreadableRecord;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A journal's directory as a person names it: live, copied, cut by retention, or the wrong one. All
 * of the package reads through it, and nothing writes there.
 */
public final class JournalDir {
  private static final int MAX_SEARCHED = 1_000;
  private static final int MAX_NAMED = 3;
  private static final String WHAT_IT_IS =
      "A journal's directory holds part-000001 or later; it is what the Manager was started with as"
          + " --journal.";

  private final Path dir;
  private final JournalReader reader;
  private Moment.@Nullable End end;

  private JournalDir(Path dir, JournalReader reader) {
    this.dir = dir;
    this.reader = reader;
  }

  /**
   * Opens a directory that holds a journal.
   *
   * @throws Failure when it holds none, with where one may be
   */
  public static JournalDir open(Path dir) throws IOException {
    if (!Files.exists(dir)) {
      throw new Failure(
          "there is no " + dir,
          "Give the directory that the Manager was started with as --journal, or a copy of it.");
    }
    if (!Files.isDirectory(dir)) {
      throw new Failure(
          dir + " is a file, not a journal's directory", around(dir.toAbsolutePath().normalize()));
    }
    JournalReader reader = JournalReader.open(dir);
    List<PartInfo> parts = reader.parts();
    if (parts.isEmpty()) {
      throw new Failure("there is no journal in " + dir, near(dir.toAbsolutePath().normalize()));
    }
    if (parts.stream().allMatch(part -> part.firstPosition() == 0)) {
      throw new Failure(
          "the journal in " + dir + " holds no fact",
          "Its Manager has not begun an epoch yet, or every part of it is damaged; if it is a copy,"
              + " copy it again.");
    }
    return new JournalDir(dir, reader);
  }

  /** Where a file that is no journal may have come from. */
  private static String around(Path file) {
    Path folder = file.getParent();
    if (folder != null && hasParts(folder)) {
      return "The folder that it lies in holds one: orbitkv replay " + folder;
    }
    Path above = folder == null ? null : folder.getParent();
    if (above != null && hasParts(above)) {
      return "The folder above its own holds one: orbitkv replay " + above;
    }
    return WHAT_IT_IS;
  }

  /** Where the journal may be that a person meant by a folder. */
  private static String near(Path dir) throws IOException {
    Path parent = dir.getParent();
    if (parent != null && hasParts(parent)) {
      return "Its parent holds one: orbitkv replay " + parent;
    }
    List<Path> found;
    try (Stream<Path> children = Files.list(dir)) {
      found =
          children
              .filter(Files::isDirectory)
              .sorted()
              .limit(MAX_SEARCHED)
              .filter(JournalDir::hasParts)
              .toList();
    }
    if (found.isEmpty()) {
      return WHAT_IT_IS;
    }
    if (found.size() == 1) {
      return "A folder in it holds one: orbitkv replay " + found.getFirst();
    }
    return "%s folders in it hold one each: %s%s"
        .formatted(
            Words.count(found.size()),
            found.stream().limit(MAX_NAMED).map(Path::toString).collect(joining(", ")),
            found.size() > MAX_NAMED ? ", .." : "");
  }

  private static boolean hasParts(Path dir) {
    try {
      return Files.isReadable(dir) && !JournalReader.open(dir).parts().isEmpty();
    } catch (IOException unreadable) {
      return false; // it was only a guess: a journal that cannot be read is none to point to
    }
  }

  public Path path() {
    return dir;
  }

  JournalReader reader() {
    return reader;
  }

  List<PartInfo> parts() throws IOException {
    return reader.parts();
  }

  /** Position of the oldest fact that is still there; above 1 when retention deleted the head. */
  long firstPosition() throws IOException {
    return reader.firstPosition();
  }

  /** The last whole fact. Reads the last part; the answer is kept. */
  public Moment.End end() throws IOException {
    Moment.End known = end;
    if (known == null) {
      known = findEnd();
      end = known;
    }
    return known;
  }

  private Moment.End findEnd() throws IOException {
    for (PartInfo part : reader.parts().reversed()) {
      if (part.firstPosition() == 0) {
        continue;
      }
      Fact last = null;
      try (FactCursor cursor = reader.from(part.firstPosition())) {
        for (FactCursor.Step step = cursor.next();
            step != FactCursor.Step.END;
            step = cursor.next()) {
          last = step == FactCursor.Step.FACT ? cursor.fact() : last;
        }
      } catch (UnreadableRecord e) {
        throw newer(e);
      }
      if (last != null) {
        return new Moment.End(last.position(), last.atMicros());
      }
    }
    throw new Failure("no whole fact is left in " + dir, "Copy the directory again, whole.");
  }

  /** Options that end a fold at a moment. */
  static ReplayOptions until(ReplayOptions options, Moment moment) {
    return switch (moment) {
      case Moment.Position position -> options.toPosition(position.position());
      case Moment.Time time -> options.toTime(time.atMicros());
    };
  }

  Replay fold(ReplayOptions options, ReplayHooks hooks) throws IOException {
    Replay replay = Replayer.run(reader, options, hooks);
    if (hooks instanceof Watcher watcher) {
      watcher.ended();
    }
    if (replay.ending() instanceof Replay.Ending.Unreadable(String message)) {
      throw new Failure(
          message, "Read it with the version that wrote it: orbitkv version, then EpochStarted.");
    }
    return replay;
  }

  /**
   * The state before the oldest fact: empty, or a checkpoint where retention deleted the head;
   * empty when that checkpoint is gone.
   */
  Optional<HostState> stateBeforeOldest() throws IOException {
    long first = firstPosition();
    if (first <= 1) {
      return Optional.of(new HostState());
    }
    Replay start =
        Replayer.run(reader, ReplayOptions.QUICK.toPosition(first - 1), ReplayHooks.NONE);
    return start.state().position() == first - 1 ? Optional.of(start.state()) : Optional.empty();
  }

  static Failure newer(UnreadableRecord e) {
    return new Failure(
        String.valueOf(e.getMessage()), "A newer OrbitKV wrote it; read it with that version.", e);
  }
}
