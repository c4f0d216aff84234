package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Journals of facts that need not make sense together, written without a state. */
final class TestJournals {
  static final UUID ID = new UUID(1, 2);

  private TestJournals() {}

  /** Remembers which parts were complete. */
  static final class Rolls implements JournalKeeper.RollListener {
    final List<Long> lastPositions = new ArrayList<>();

    @Override
    public synchronized void rolled(long part, long lastPosition) {
      lastPositions.add(lastPosition);
    }

    @Override
    public void appended(long position) {}

    @Override
    public long checkpointPosition() {
      return 0;
    }

    @Override
    public long totalBytes() {
      return 0;
    }

    @Override
    public synchronized int parts() {
      return lastPositions.size();
    }

    @Override
    public @Nullable String problem() {
      return null;
    }

    @Override
    public void close() {}
  }

  static JournalOptions small() {
    return JournalOptions.DEFAULT.withPartBytes(512 << 10).withRetention(Retention.KEEP_ALL);
  }

  static Journal open(Path dir, JournalOptions options, long lastPosition) throws IOException {
    return open(dir, options, lastPosition, new Rolls());
  }

  static Journal open(
      Path dir, JournalOptions options, long lastPosition, JournalKeeper.RollListener rolls)
      throws IOException {
    JournalOpener opener = JournalOpener.lock(dir).orElseThrow();
    return opener.append(options, ID, lastPosition, Samples.AT_MICROS, rolls).orElseThrow();
  }

  private static final List<HostEvent> EVENTS = shortEvents();

  /** One of the samples, but none of the very long ones. */
  static HostEvent event(long position) {
    return EVENTS.get((int) (position % EVENTS.size()));
  }

  private static List<HostEvent> shortEvents() {
    RecordEncoder encoder = new RecordEncoder();
    return Samples.all().stream()
        .filter(event -> encoder.fact(1, Samples.AT_MICROS, event) < 1000)
        .toList();
  }

  /** Small facts, for tests that count bytes. */
  static HostEvent small(long position) {
    return new HostEvent.LeaseReleased(position, HostEvent.LeaseEnd.RELEASED);
  }

  /** What a full reading saw. */
  record Reading(
      List<Fact> facts, List<Corruption> corruptions, @Nullable Corruption tail, long cuts) {}

  static Reading read(Path dir) throws IOException {
    List<Fact> facts = new ArrayList<>();
    List<Corruption> corruptions = new ArrayList<>();
    try (FactCursor cursor = JournalReader.open(dir).from(1)) {
      for (; ; ) {
        switch (cursor.next()) {
          case FACT -> facts.add(cursor.fact());
          case DAMAGED -> corruptions.add(cursor.corruption());
          case END -> {
            return new Reading(facts, corruptions, cursor.tornTail().orElse(null), cursor.cuts());
          }
        }
      }
    }
  }
}
