package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveryTest {
  @TempDir Path dir;

  @Test
  void shouldRecoverTheLiveState() throws Exception {
    long digest = run(1, 3_000, TestJournals.small(), false);
    Recovered.Opened opened = open(TestJournals.small());
    try (Journal journal = opened.journal()) {
      assertEquals(digest, opened.state().digest());
      assertEquals(3_000, opened.report().lastPosition());
      assertEquals(3_000, journal.lastPosition());
      assertEquals(Optional.empty(), opened.report().tail());
      assertEquals(List.of(), opened.report().wrongDigests());
    }
  }

  @Test
  void shouldRecoverOverManyRuns() throws Exception {
    long digest = 0;
    for (int run = 1; run <= 4; run++) {
      digest = run(run, 700, TestJournals.small(), false);
    }
    Replay replay = Replayer.run(JournalReader.open(dir), ReplayOptions.VERIFY, ReplayHooks.NONE);
    assertTrue(replay.clean(), replay.ending().toString());
    assertEquals(digest, replay.state().digest());
    assertEquals(2_800, replay.facts());
    assertTrue(replay.digestsVerified() >= 12, replay.digestsVerified() + " digests");
  }

  @Test
  void shouldCompareSomeDigestsOfALongFold() throws Exception {
    long digest = run(1, 12_000, TestJournals.small(), false);
    Replay quick =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertTrue(quick.clean(), quick.ending().toString());
    assertEquals(digest, quick.state().digest());
    assertTrue(quick.digestsVerified() > 4_096 / 200, quick.digestsVerified() + " digests");
  }

  @Test
  void shouldStartAnEmptyJournal() throws Exception {
    Recovered.Opened opened = open(TestJournals.small());
    opened.journal().close();
    assertEquals(0, opened.report().lastPosition());
    assertEquals(0, opened.state().position());
  }

  @Test
  void shouldMakeACheckpointAtARollAndStartFromIt() throws Exception {
    long digest = run(1, 20_000, TestJournals.small(), true);
    long newest = Layout.checkpoints(dir).lastKey();
    Recovered.Opened opened = open(TestJournals.small());
    opened.journal().close();
    assertEquals(newest, opened.report().checkpointPosition());
    assertEquals(20_000 - newest, opened.report().foldedFacts());
    assertEquals(digest, opened.state().digest());
    Replay full =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertEquals(0, full.checkpointPosition());
    assertEquals(digest, full.state().digest());
  }

  @Test
  void shouldLeaveACheckpointBehindTheLastFactWhenClosedWithItsState() throws Exception {
    Recovered.Opened opened = open(TestJournals.small());
    Workload workload = new Workload(1, 64, opened.state());
    append(opened.journal(), workload, 500);
    assertTrue(opened.journal().close(workload.state(), Duration.ofSeconds(10)));
    Path unfinished = Files.createFile(dir.resolve("checkpoint-00000000000000000499.tmp"));
    Recovered.Opened again = open(TestJournals.small());
    assertEquals(0, again.report().foldedFacts());
    assertEquals(500, again.report().lastPosition());
    assertEquals(workload.state().digest(), again.state().digest());
    assertFalse(Files.exists(unfinished));
    assertTrue(again.journal().close(again.state(), Duration.ofSeconds(10)));
  }

  @Test
  void shouldMakeCheckpointsInsideAPart() throws Exception {
    int every = 4_000;
    JournalOptions options = JournalOptions.DEFAULT.withCheckpointFacts(every);
    Recovered.Opened opened = open(options);
    Workload workload = new Workload(1, 64, opened.state());
    long deadline = System.nanoTime() + 20_000_000_000L;
    try (Journal journal = opened.journal()) {
      for (int i = 0; i < 4; i++) {
        append(journal, workload, every);
        while (journal.lastPosition() - journal.stats().checkpointPosition() >= every) {
          assertTrue(System.nanoTime() < deadline, journal.stats().toString());
          Thread.sleep(5);
        }
      }
      assertEquals(0, journal.stats().rolls());
      assertEquals(1, journal.stats().parts());
    }
    assertTrue(Layout.checkpoints(dir).size() <= 2, Layout.checkpoints(dir).toString());
    Recovered.Opened again = open(options);
    again.journal().close();
    assertTrue(again.report().foldedFacts() < every, again.report().toString());
    assertEquals(workload.state().digest(), again.state().digest());
  }

  @Test
  void shouldKeepTheCheckpointsAtTheEndsOfParts() throws Exception {
    run(1, 40_000, TestJournals.small().withCheckpointFacts(1_000), true);
    List<PartInfo> parts = JournalReader.open(dir).parts();
    assertTrue(parts.size() >= 3, parts.toString());
    long end = parts.get(parts.size() - 2).firstPosition() - 1;
    long newest = parts.getLast().firstPosition() - 1;
    assertTrue(Layout.checkpoints(dir).containsKey(newest), Layout.checkpoints(dir).toString());
    assertTrue(
        Layout.checkpoints(dir).tailMap(end).size() <= 4, Layout.checkpoints(dir).toString());
  }

  @Test
  void shouldCountPartsAndBytesWhenOpened() throws Exception {
    run(1, 20_000, TestJournals.small(), true);
    List<PartInfo> parts = JournalReader.open(dir).parts();
    long bytes = parts.stream().mapToLong(PartInfo::diskBytes).sum();
    Recovered.Opened opened = open(TestJournals.small());
    try (Journal journal = opened.journal()) {
      assertEquals(parts.size() + 1, journal.stats().parts());
      assertTrue(journal.stats().totalBytes() > bytes, journal.stats() + ", " + bytes);
    }
  }

  @Test
  void shouldFallBackToAnOlderCheckpoint() throws Exception {
    long digest = run(1, 30_000, TestJournals.small(), true);
    List<Path> checkpoints = List.copyOf(Layout.checkpoints(dir).values());
    assertTrue(checkpoints.size() >= 2, checkpoints.toString());
    flip(checkpoints.getLast(), Files.size(checkpoints.getLast()) / 2);
    Recovered.Opened opened = open(TestJournals.small());
    opened.journal().close();
    assertEquals(digest, opened.state().digest());
    assertEquals(1, opened.report().damagedCheckpoints().size());
    assertTrue(
        opened.report().damagedCheckpoints().getFirst().contains("checksum"),
        opened.report().damagedCheckpoints().getFirst());
    assertTrue(opened.report().checkpointPosition() < Layout.checkpoints(dir).lastKey());
  }

  @Test
  void shouldNoticeEveryKindOfDamageToACheckpoint() throws Exception {
    long digest = run(1, 20_000, TestJournals.small(), true);
    Path checkpoint = Layout.checkpoints(dir).lastEntry().getValue();
    byte[] whole = Files.readAllBytes(checkpoint);
    for (int length : new int[] {0, 1, 7, 60, whole.length / 2, whole.length - 1}) {
      Files.write(checkpoint, Arrays.copyOf(whole, length));
      assertNoticed(digest, length + " bytes");
    }
    for (int at : new int[] {0, 7, 8, 100, -61, -60, -40, -1}) {
      byte[] damaged = whole.clone();
      damaged[Math.floorMod(at, whole.length)] ^= 0x10;
      Files.write(checkpoint, damaged);
      assertNoticed(digest, "byte " + at);
    }
    Files.delete(checkpoint);
    Files.write(Layout.checkpoint(dir, 19_999), whole);
    assertNoticed(digest, "another name");
  }

  private void assertNoticed(long digest, String damage) throws IOException {
    Replay replay = fold();
    assertEquals(digest, replay.state().digest());
    assertEquals(1, replay.damagedCheckpoints().size(), damage);
  }

  @Test
  void shouldIgnoreAHalfWrittenCheckpoint() throws Exception {
    long digest = run(1, 3_000, TestJournals.small(), false);
    Files.writeString(Layout.temporary(Layout.checkpoint(dir, 2_000)), "half");
    Recovered.Opened opened = open(TestJournals.small());
    opened.journal().close();
    assertEquals(digest, opened.state().digest());
    assertEquals(0, opened.report().checkpointPosition());
  }

  @Test
  void shouldCutATornTailAndGoOnBehindIt() throws Exception {
    run(1, 1_000, TestJournals.small(), false);
    Path facts = lastFacts();
    long end = usedBytes(facts);
    truncate(facts, end - 3);
    Recovered.Opened opened = open(TestJournals.small());
    assertEquals(999, opened.report().lastPosition());
    Corruption tail = opened.report().tail().orElseThrow();
    assertEquals(Corruption.Kind.TAIL, tail.kind());
    assertEquals(999, tail.afterPosition());
    Workload workload = new Workload(7, 64, opened.state());
    try (Journal journal = opened.journal()) {
      append(journal, workload, 500);
    }
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(1_499, reading.facts().size());
    assertEquals(1, reading.cuts());
    assertEquals(List.of(), reading.corruptions());
    assertEquals(workload.state().digest(), fold().state().digest());
  }

  /** As a killed daemon leaves it: a part is prepared behind the one that it wrote. */
  @Test
  void shouldReportACutTailBeforeAPartThatWasOnlyPrepared() throws Exception {
    Path prepared = Layout.facts(Layout.part(dir, 2));
    byte[] empty;
    Recovered.Opened first = open(TestJournals.small());
    try (Journal journal = first.journal()) {
      append(journal, new Workload(1, 64, first.state()), 1_000);
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (!Files.exists(prepared) || usedBytes(prepared) <= 64 << 10) {
        assertTrue(System.nanoTime() < deadline, "no part was prepared");
        Thread.sleep(10);
      }
      empty = Files.readAllBytes(prepared);
    }
    Files.createDirectories(Layout.part(dir, 2));
    Files.write(prepared, empty);
    Path written = Layout.facts(Layout.part(dir, 1));
    flip(written, usedBytes(written) - 3);
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(999, reading.facts().size());
    assertEquals(999, Optional.ofNullable(reading.tail()).orElseThrow().afterPosition());
    Recovered.Opened opened = open(TestJournals.small());
    assertEquals(999, opened.report().tail().orElseThrow().afterPosition());
    try (Journal journal = opened.journal()) {
      append(journal, new Workload(7, 64, opened.state()), 10);
    }
    reading = TestJournals.read(dir);
    assertEquals(1_009, reading.facts().size());
    assertEquals(1, reading.cuts());
    assertEquals(List.of(), reading.corruptions());
  }

  @Test
  void shouldRefuseToStartOverAHole() throws Exception {
    run(1, 1_000, TestJournals.small(), false);
    flip(lastFacts(), usedBytes(lastFacts()) / 2 + 70_000 / 2);
    Recovered.Refused refused = refuse(TestJournals.small());
    assertEquals("journal-corrupt", refused.code());
    assertEquals(RefusalCategory.INTERNAL, refused.category());
    assertTrue(
        refused.message().contains("corruption in the middle (part 1, byte "), refused.message());
    assertTrue(refused.message().contains("index "), refused.message());
    assertTrue(refused.remedy().contains("move it aside"));
  }

  @Test
  void shouldStartOverAHoleThatACheckpointCovers() throws Exception {
    long digest = run(1, 20_000, TestJournals.small(), true);
    Path first = Layout.facts(Layout.part(dir, 1));
    flip(first, usedBytes(first) - 20_000);
    Recovered.Opened opened = open(TestJournals.small());
    opened.journal().close();
    assertEquals(digest, opened.state().digest());
    Replay full =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertInstanceOf(Replay.Ending.Corrupted.class, full.ending());
  }

  @Test
  void shouldRefuseAJournalInUse() throws Exception {
    Recovered.Opened opened = open(TestJournals.small());
    try (Journal journal = opened.journal()) {
      Recovered.Refused refused = refuse(TestJournals.small());
      assertEquals("journal-in-use", refused.code());
      assertEquals(0, journal.lastPosition());
    }
  }

  @Test
  void shouldRefuseAJournalWithoutItsBeginning() throws Exception {
    run(1, 500, TestJournals.small(), false);
    run(2, 500, TestJournals.small(), false);
    Layout.deletePart(Layout.part(dir, 1));
    Recovered.Refused refused = refuse(TestJournals.small());
    assertEquals("journal-incomplete", refused.code());
    assertTrue(refused.message().contains("begins at position 501"), refused.message());
  }

  @Test
  void shouldRefuseWhenTheDiskHasNoRoom() throws Exception {
    JournalOptions full = TestJournals.small().withReserver((file, from, to) -> false);
    Recovered.Refused refused = refuse(full);
    assertEquals(RefusalCategory.RESOURCE, refused.category());
    assertEquals("journal-disk-full", refused.code());
    assertEquals(List.of(), JournalReader.open(dir).parts());
  }

  @Test
  void shouldKeepOnlyWhatTheRetentionWants() throws Exception {
    JournalOptions options =
        TestJournals.small().withRetention(new Retention(1 << 20, Optional.empty()));
    Recovered.Opened opened = open(options);
    Workload workload = new Workload(1, 64, opened.state());
    try (Journal journal = opened.journal()) {
      for (int i = 0; i < 20; i++) {
        append(journal, workload, 3_000); // less than a part, so that every part's end is seen
        awaitCheckpoint(journal);
      }
    }
    long digest = workload.state().digest();
    List<PartInfo> parts = JournalReader.open(dir).parts();
    long bytes = parts.stream().mapToLong(PartInfo::diskBytes).sum();
    assertTrue(parts.getFirst().number() > 1, parts.toString());
    assertTrue(bytes < 3 << 20, bytes + " bytes");
    Replay oldest =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertInstanceOf(Replay.Ending.Complete.class, oldest.ending());
    assertEquals(parts.getFirst().firstPosition() - 1, oldest.checkpointPosition());
    assertEquals(digest, oldest.state().digest());
  }

  @Test
  void shouldDeleteOldPartsOnlyUnderAWholeCheckpoint() throws Exception {
    run(1, 20_000, TestJournals.small(), true);
    long bound = Layout.checkpoints(dir).firstKey();
    Retention oneHour = new Retention(Long.MAX_VALUE, Optional.of(Duration.ofHours(1)));
    long later = Samples.AT_MICROS / 1000 + Duration.ofHours(2).toMillis();
    List<Path> checkpoints = List.copyOf(Layout.checkpoints(dir).values());
    for (Path checkpoint : checkpoints) {
      flip(checkpoint, 50);
    }
    int before = JournalReader.open(dir).parts().size();
    assertEquals(before, new RetentionKeeper(dir, oneHour).run(later));
    assertEquals(before, JournalReader.open(dir).parts().size());
    flip(checkpoints.getFirst(), 50);
    new RetentionKeeper(dir, oneHour).run(later);
    assertEquals(bound + 1, JournalReader.open(dir).firstPosition());
    long early = Samples.AT_MICROS / 1000;
    assertEquals(
        JournalReader.open(dir).parts().size(), new RetentionKeeper(dir, oneHour).run(early));
  }

  @Test
  void shouldReplayToAPositionAndATime() throws Exception {
    run(1, 20_000, TestJournals.small(), true);
    JournalReader reader = JournalReader.open(dir);
    for (long position : new long[] {1, 777, 10_000, 19_999}) {
      Replay byPosition =
          Replayer.run(reader, ReplayOptions.QUICK.toPosition(position), ReplayHooks.NONE);
      assertEquals(position, byPosition.state().position());
      Replay byTime =
          Replayer.run(
              reader, ReplayOptions.QUICK.toTime(Samples.AT_MICROS + position), ReplayHooks.NONE);
      assertEquals(byPosition.state().digest(), byTime.state().digest());
      Replay full =
          Replayer.run(
              reader,
              ReplayOptions.VERIFY.toPosition(position).deepCheckEvery(997),
              ReplayHooks.NONE);
      assertEquals(byPosition.state().digest(), full.state().digest());
      assertEquals(0, full.checkpointPosition());
    }
  }

  @Test
  void shouldReportADigestThatDiffers() throws Exception {
    Recovered.Opened opened = open(TestJournals.small());
    try (Journal journal = opened.journal()) {
      Workload workload = new Workload(1, 64, opened.state());
      append(journal, workload, 10);
      journal.append(Samples.AT_MICROS, new HostEvent.DigestRecorded(42, 0, 0));
    }
    Replay replay = fold();
    assertEquals(1, replay.wrongDigests().size());
    assertEquals(11, replay.wrongDigests().getFirst().position());
    assertEquals(42, replay.wrongDigests().getFirst().recorded());
    assertTrue(!replay.clean());
  }

  @Test
  void shouldNameThePositionOfAFactThatContradictsTheState() throws Exception {
    Recovered.Opened opened = open(TestJournals.small());
    try (Journal journal = opened.journal()) {
      append(journal, new Workload(1, 64, opened.state()), 10);
      journal.append(1, TestJournals.small(4711));
    }
    Recovered.Refused refused = refuse(TestJournals.small());
    assertEquals("journal-broken", refused.code());
    assertTrue(refused.message().contains("position 11"), refused.message());
  }

  @Test
  void shouldCallHooksAroundEveryFactAndReportProgress() throws Exception {
    run(1, 70_000, JournalOptions.DEFAULT.withRetention(Retention.KEEP_ALL), false);
    long[] counts = new long[4];
    Replayer.run(
        JournalReader.open(dir),
        ReplayOptions.QUICK,
        new ReplayHooks() {
          @Override
          public void starting(HostState state) {
            assertEquals(0, state.position());
            counts[0]++;
          }

          @Override
          public void before(Fact fact, HostState state) {
            assertEquals(fact.position() - 1, state.position());
            counts[1]++;
          }

          @Override
          public void after(Fact fact, HostState state) {
            assertEquals(fact.position(), state.position());
            counts[2]++;
          }

          @Override
          public void progress(long doneBytes, long totalBytes) {
            assertTrue(doneBytes <= totalBytes);
            counts[3]++;
          }
        });
    assertEquals(List.of(1L, 70_000L, 70_000L, 3L), Arrays.stream(counts).boxed().toList());
  }

  // ---- helpers
  // -----------------------------------------------------------------------------------------------------

  /** One daemon run; returns the digest of the live state at its end. */
  private long run(long seed, int facts, JournalOptions options, boolean awaitCheckpoint)
      throws Exception {
    Recovered.Opened opened = open(options);
    Workload workload = new Workload(seed, 64, opened.state());
    try (Journal journal = opened.journal()) {
      append(journal, workload, facts);
      if (awaitCheckpoint) {
        awaitCheckpoint(journal);
        assertTrue(journal.stats().rolls() > 0, journal.stats().toString());
      }
    }
    return workload.state().digest();
  }

  /** Waits until the last roll has its checkpoint. */
  private void awaitCheckpoint(Journal journal) throws Exception {
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (!checkpointed(journal)) {
      assertTrue(System.nanoTime() < deadline, journal.stats().toString());
      Thread.sleep(10);
    }
  }

  private boolean checkpointed(Journal journal) throws IOException {
    List<PartInfo> parts =
        JournalReader.open(dir).parts().stream().filter(part -> part.firstPosition() > 0).toList();
    return journal.stats().checkpointPosition() >= parts.getLast().firstPosition() - 1;
  }

  private static void append(Journal journal, Workload workload, int facts) throws Exception {
    for (int i = 0; i < facts; i++) {
      if (i % 16 == 0) {
        while (!journal.hasRoom(16, 16 * 24 * 90)) {
          Thread.sleep(1);
        }
      }
      Fact fact = workload.next(Samples.AT_MICROS + workload.state().position() + 1);
      assertEquals(fact.position(), journal.append(fact.atMicros(), fact.event()));
    }
  }

  private Recovered.Opened open(JournalOptions options) throws IOException {
    Recovered recovered = Recovery.open(dir, options, Samples.AT_MICROS);
    return assertInstanceOf(Recovered.Opened.class, recovered, recovered.toString());
  }

  private Recovered.Refused refuse(JournalOptions options) throws IOException {
    return assertInstanceOf(
        Recovered.Refused.class, Recovery.open(dir, options, Samples.AT_MICROS));
  }

  private Replay fold() throws IOException {
    return Replayer.run(JournalReader.open(dir), ReplayOptions.QUICK, ReplayHooks.NONE);
  }

  private Path lastFacts() throws IOException {
    return Layout.facts(Layout.parts(dir).lastEntry().getValue());
  }

  /** Up to the last byte that is not zero. */
  private static long usedBytes(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }

  private static void truncate(Path file, long length) throws IOException {
    try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
      access.setLength(length);
    }
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
      access.seek(at);
      int value = access.read();
      access.seek(at);
      access.write(value ^ 0x40);
    }
  }
}
