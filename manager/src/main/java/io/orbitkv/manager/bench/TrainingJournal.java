package io.orbitkv.manager.bench;

import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Writes the journals that a Manager folds when the build watches what a start needs: a checkpoint
 * and many facts of conversations behind it, on a host without an SSD tier and on one with. What
 * the JVM learns of these folds is kept in the Manager's cache of classes and profiles.
 */
public final class TrainingJournal {
  private static final int FACTS_BEFORE = 40_000;
  private static final int FACTS_BEHIND = 150_000;
  private static final int EXTENTS = 40_000;
  private static final int SSD_FACTS_BEHIND = 150_000;
  private static final long START_MICROS = 1_700_000_000_000_000L;

  private TrainingJournal() {}

  /**
   * Writes them.
   *
   * @param arguments the directories of the journals without and with a tier, and the tier's file
   */
  public static void main(String[] arguments) throws IOException {
    Path dir = Path.of(arguments[0]);
    FactStream stream = new FactStream(1, START_MICROS, FactStream.Mix.CONVERSATIONS);
    HostState state = new HostState();
    Journal first = open(dir);
    append(first, stream, state, FACTS_BEFORE);
    first.close(state, Duration.ofSeconds(30));
    try (Journal second = open(dir)) {
      append(second, stream, state, FACTS_BEHIND);
    }
    SsdJournal.write(Path.of(arguments[1]), Path.of(arguments[2]), EXTENTS, SSD_FACTS_BEHIND);
  }

  private static Journal open(Path dir) throws IOException {
    JournalOptions options = JournalOptions.DEFAULT.withCheckpointFacts(1 << 30);
    return switch (Recovery.open(dir, options, START_MICROS)) {
      case Recovered.Opened opened -> opened.journal();
      case Recovered.Refused refused -> throw new IOException(refused.message());
    };
  }

  private static void append(Journal journal, FactStream stream, HostState state, int facts)
      throws IOException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    for (int i = 0; i < facts; i++) {
      while (!journal.hasRoom(1, 1 << 20)) {
        if (System.nanoTime() > deadline) {
          throw new IOException("the journal found no room");
        }
        Thread.onSpinWait();
      }
      HostEvent event = stream.next();
      long atMicros = stream.atMicros();
      state.apply(new Fact(journal.append(atMicros, event), atMicros, event), Effects.NONE);
    }
  }
}
