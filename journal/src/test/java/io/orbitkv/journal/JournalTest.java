package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  @TempDir Path dir;

  @Test
  void shouldReadBackWhatWasAppended() throws Exception {
    List<Fact> appended = new ArrayList<>();
    try (Journal journal = TestJournals.open(dir, JournalOptions.DEFAULT, 0)) {
      for (HostEvent event : Samples.all()) {
        long position = journal.append(Samples.AT_MICROS + appended.size(), event);
        appended.add(new Fact(position, Samples.AT_MICROS + position - 1, event));
      }
      assertEquals(appended.size(), journal.lastPosition());
    }
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(appended, reading.facts());
    assertEquals(List.of(), reading.corruptions());
    assertNull(reading.tail());
  }

  @Test
  void shouldGiveUnusedBlocksBackAtTheEnd() throws Exception {
    try (Journal journal = TestJournals.open(dir, JournalOptions.DEFAULT, 0)) {
      journal.append(1, TestJournals.small(1));
    }
    long bytes = JournalReader.open(dir).parts().getFirst().diskBytes();
    assertTrue(bytes < 300_000, bytes + " bytes");
  }

  @Test
  void shouldTrimWhatADeadProcessReserved() throws Exception {
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0)) {
      journal.append(1, TestJournals.small(1));
    }
    Path facts = Layout.facts(Layout.part(dir, 1));
    try (RandomAccessFile access = new RandomAccessFile(facts.toFile(), "rw")) {
      access.setLength(80 << 20);
    }
    PartTrimmer.trimBefore(dir, 1);
    assertEquals(80 << 20, Files.size(facts));
    PartTrimmer.trimBefore(dir, 2);
    assertTrue(Files.size(facts) < 300_000, Files.size(facts) + " bytes");
    assertEquals(1, TestJournals.read(dir).facts().size());
    assertNull(TestJournals.read(dir).tail());
  }

  @Test
  void shouldContinuePositionsInANewPartAfterReopening() throws Exception {
    for (int run = 0; run < 3; run++) {
      try (Journal journal = TestJournals.open(dir, TestJournals.small(), run * 10L)) {
        for (int i = 0; i < 10; i++) {
          journal.append(1, TestJournals.small(i));
        }
      }
    }
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(30, reading.facts().size());
    assertEquals(30, reading.facts().getLast().position());
    assertEquals(List.of(), reading.corruptions());
    assertEquals(
        List.of(1L, 11L, 21L),
        JournalReader.open(dir).parts().stream().map(PartInfo::firstPosition).toList());
  }

  @Test
  void shouldLeaveNoPartWithoutFacts() throws Exception {
    TestJournals.open(dir, TestJournals.small(), 0).close();
    assertEquals(List.of(), JournalReader.open(dir).parts());
    TestJournals.open(dir, TestJournals.small(), 0).close();
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0)) {
      assertEquals(1, journal.append(1, TestJournals.small(1)));
    }
    assertEquals(1, JournalReader.open(dir).parts().size());
  }

  @Test
  void shouldRollBySize() throws Exception {
    TestJournals.Rolls rolls = new TestJournals.Rolls();
    int facts = 40_000;
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0, rolls)) {
      for (int i = 1; i <= facts; i++) {
        awaitRoom(journal);
        journal.append(i, TestJournals.small(i));
      }
      assertTrue(journal.stats().rolls() >= 3, journal.stats().toString());
    }
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(facts, reading.facts().size());
    assertEquals(List.of(), reading.corruptions());
    assertEquals(0, reading.cuts());
    for (PartInfo part : JournalReader.open(dir).parts()) {
      assertTrue(part.diskBytes() <= 512 << 10, part.toString());
    }
    for (int i = 0; i < rolls.lastPositions.size(); i++) {
      assertEquals(
          rolls.lastPositions.get(i) + 1,
          JournalReader.open(dir).parts().get(i + 1).firstPosition());
    }
  }

  @Test
  void shouldRollByAge() throws Exception {
    JournalOptions options = TestJournals.small().withPartAge(Duration.ofMillis(200));
    long start = System.currentTimeMillis() * 1000;
    try (Journal journal = TestJournals.open(dir, options, 0)) {
      long deadline = System.nanoTime() + 10_000_000_000L;
      while (journal.stats().rolls() < 2 && System.nanoTime() < deadline) {
        journal.append(System.currentTimeMillis() * 1000, TestJournals.small(1));
        Thread.sleep(5);
      }
      assertTrue(journal.stats().rolls() >= 2, "rolled " + journal.stats().rolls() + " times");
      assertTrue(System.currentTimeMillis() * 1000 - start >= 400_000);
    }
    assertEquals(List.of(), TestJournals.read(dir).corruptions());
  }

  @Test
  void shouldLetOneJournalAppendAtATime() throws Exception {
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0)) {
      journal.append(1, TestJournals.small(1));
      assertTrue(JournalOpener.lock(dir).isEmpty());
    }
    JournalOpener.lock(dir).orElseThrow().close();
    assertFalse(JournalOpener.lock(dir).isEmpty());
  }

  @Test
  void shouldFlushInTheBackgroundOrAtTheEndOfABatch() throws Exception {
    try (Journal journal =
        TestJournals.open(
            dir.resolve("a"), TestJournals.small().withSync(new SyncMode.Background(5)), 0)) {
      journal.append(1, TestJournals.small(1));
      long deadline = System.nanoTime() + 10_000_000_000L;
      while (journal.stats().flushedPosition() < 1 && System.nanoTime() < deadline) {
        Thread.sleep(1);
      }
      assertEquals(1, journal.stats().flushedPosition());
    }
    try (Journal journal =
        TestJournals.open(
            dir.resolve("b"), TestJournals.small().withSync(new SyncMode.EachBatch()), 0)) {
      journal.append(1, TestJournals.small(1));
      journal.append(1, TestJournals.small(2));
      assertEquals(0, journal.stats().flushedPosition());
      journal.endBatch();
      assertEquals(2, journal.stats().flushedPosition());
    }
  }

  @Test
  void shouldFollowALiveJournalAcrossRolls() throws Exception {
    int facts = 30_000;
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0);
        FactCursor cursor = JournalReader.open(dir).follow(1)) {
      long next = 1;
      for (int i = 1; i <= facts; i++) {
        awaitRoom(journal);
        journal.append(i, TestJournals.small(i));
        if (i % 100 == 0) {
          while (cursor.next() == FactCursor.Step.FACT) {
            assertEquals(next++, cursor.fact().position());
          }
          assertEquals(i + 1L, next);
        }
      }
      assertEquals(0, cursor.cuts());
      assertTrue(journal.stats().rolls() >= 2, journal.stats().toString());
    }
  }

  @Test
  void shouldStartAtAPositionOrATime() throws Exception {
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0)) {
      for (int i = 1; i <= 20_000; i++) {
        awaitRoom(journal);
        journal.append(i * 10L, TestJournals.small(i));
      }
    }
    JournalReader reader = JournalReader.open(dir);
    for (long position : new long[] {1, 2, 9_999, 15_000, 20_000}) {
      try (FactCursor cursor = reader.from(position)) {
        assertEquals(FactCursor.Step.FACT, cursor.next());
        assertEquals(position, cursor.fact().position());
      }
      try (FactCursor cursor = reader.fromTime(position * 10 - 5)) {
        assertEquals(FactCursor.Step.FACT, cursor.next());
        assertEquals(position, cursor.fact().position());
      }
    }
    try (FactCursor cursor = reader.from(20_001)) {
      assertEquals(FactCursor.Step.END, cursor.next());
    }
  }

  @Test
  void shouldWriteNothingWhileReading() throws Exception {
    try (Journal journal = TestJournals.open(dir, TestJournals.small(), 0)) {
      journal.append(1, TestJournals.small(1));
    }
    List<String> before = listing();
    TestJournals.read(dir);
    assertEquals(before, listing());
  }

  private List<String> listing() throws Exception {
    try (var files = Files.walk(dir)) {
      List<String> lines = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        lines.add(file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
      }
      return lines;
    }
  }

  /** Room comes within moments on a disk that is not full. */
  static void awaitRoom(Journal journal) throws InterruptedException {
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (!journal.hasRoom(1, 0)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no room: " + journal.stats());
      }
      Thread.sleep(1);
    }
  }
}
