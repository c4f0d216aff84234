package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.Fact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damages a copy of a journal and reads it. Whatever the damage, a fact that is read is one that
 * was written, and every fact that is not read is reported: as a tail when nothing follows it, else
 * as a hole with its size.
 */
class CorruptionTest {
  private static final int FACTS = 400;

  @TempDir Path temporary;
  private Path dir = Path.of("");
  private List<Fact> written = List.of();
  private byte[] middle = {};

  /** Three parts, of which the tests damage the second or the last. */
  @BeforeEach
  void write() throws Exception {
    dir = temporary.resolve("journal");
    List<Fact> facts = new ArrayList<>();
    for (int part = 0; part < 3; part++) {
      try (Journal journal = TestJournals.open(dir, TestJournals.small(), facts.size())) {
        for (int i = 0; i < FACTS; i++) {
          long at = Samples.AT_MICROS + facts.size();
          long position = journal.append(at, TestJournals.event(facts.size()));
          facts.add(new Fact(position, at, TestJournals.event(facts.size())));
        }
      }
    }
    written = facts;
    middle = Files.readAllBytes(facts(2));
    assertReads(3 * FACTS);
  }

  @Test
  void shouldCutTheTailAtEveryByte() throws Exception {
    byte[] whole = Files.readAllBytes(facts(3));
    int end = used(whole);
    int from = recordStart(whole, end, 4);
    for (int length = from; length <= end; length++) {
      Files.write(facts(3), Arrays.copyOf(whole, length));
      TestJournals.Reading reading = check("truncated to " + length + " of " + end);
      assertEquals(List.of(), reading.corruptions());
      assertTrue(reading.facts().size() >= 3 * FACTS - 5, "truncated to " + length);
    }
    Files.write(facts(3), whole);
    assertReads(3 * FACTS);
  }

  @Test
  void shouldReportWhatIsMissingWhenAMiddlePartIsTruncated() throws Exception {
    int end = used(middle);
    for (int length : new int[] {0, 1, 100, 65_536, end / 2, end - 5000, end - 1}) {
      Files.write(facts(2), Arrays.copyOf(middle, length));
      TestJournals.Reading reading = check("truncated to " + length + " of " + end);
      assertEquals(1, reading.corruptions().size(), "truncated to " + length);
      assertTrue(reading.corruptions().getFirst().lostFacts() >= 1);
    }
  }

  /** Every bit of the last records and of the file's own head, and bits anywhere. */
  @Test
  void shouldNoticeFlippedBits() throws Exception {
    int end = used(middle);
    List<Integer> bits = new ArrayList<>();
    for (int at = recordStart(middle, end, 3); at < end; at++) {
      for (int bit = 0; bit < 8; bit++) {
        bits.add(at * 8 + bit);
      }
    }
    for (int at = 0; at < 8; at++) {
      bits.add(at * 8 + at);
    }
    long seed = Long.getLong("orbitkv.seed", 42);
    Random random = new Random(seed);
    int sampled = Boolean.getBoolean("orbitkv.long") ? 50_000 : 200;
    for (int i = 0; i < sampled; i++) {
      bits.add(random.nextInt(end * 8));
    }
    System.out.printf(
        "%d bits flipped, seed %d (-Dorbitkv.long=true: 50,000 at random)%n", bits.size(), seed);
    for (int bit : bits) {
      byte[] damaged = middle.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      Files.write(facts(2), damaged);
      check("bit " + bit % 8 + " of byte " + bit / 8 + ", seed " + seed);
    }
  }

  @Test
  void shouldNoticeZeroPagesAnywhere() throws Exception {
    int end = used(middle);
    for (int page = 0; page < end; page += 4096) {
      byte[] damaged = middle.clone();
      Arrays.fill(damaged, page, Math.min(page + 4096, damaged.length), (byte) 0);
      Files.write(facts(2), damaged);
      check("page at " + page);
    }
  }

  @Test
  void shouldFindARecordFarBehindZeros() throws Exception {
    byte[] whole = Files.readAllBytes(facts(3));
    int end = used(whole);
    int cut = recordStart(whole, end, 2);
    int last = recordStart(whole, end, 1);
    for (int zeros :
        new int[] {8, 12, 4096, (256 << 10) - 4, 256 << 10, (256 << 10) + 4, 3 << 20}) {
      byte[] torn = new byte[cut + zeros + end - last];
      System.arraycopy(whole, 0, torn, 0, cut);
      System.arraycopy(whole, last, torn, cut + zeros, end - last);
      Files.write(facts(3), torn);
      TestJournals.Reading reading = check(zeros + " zeros");
      assertEquals(3 * FACTS - 1, reading.facts().size(), zeros + " zeros");
      assertEquals(1, reading.corruptions().size(), zeros + " zeros");
    }
  }

  @Test
  void shouldNoticeOverwrittenStretches() throws Exception {
    long seed = Long.getLong("orbitkv.seed", 43);
    Random random = new Random(seed);
    int end = used(middle);
    for (int round = 0; round < 200; round++) {
      byte[] damaged = middle.clone();
      byte[] noise = new byte[1 + random.nextInt(3000)];
      random.nextBytes(noise);
      System.arraycopy(noise, 0, damaged, random.nextInt(end - noise.length), noise.length);
      Files.write(facts(2), damaged);
      check("round " + round + ", seed " + seed);
    }
  }

  @Test
  void shouldReportAMissingPart() throws Exception {
    Layout.deletePart(Layout.part(dir, 2));
    TestJournals.Reading reading = check("part 2 missing");
    assertEquals(1, reading.corruptions().size());
    Corruption corruption = reading.corruptions().getFirst();
    assertEquals(Corruption.Kind.MIDDLE, corruption.kind());
    assertEquals(FACTS, corruption.afterPosition());
    assertEquals(FACTS, corruption.lostFacts());
    assertEquals("positions 401 to 800 are missing", corruption.reason());
  }

  @Test
  void shouldReportADuplicatedPart() throws Exception {
    copy(Layout.part(dir, 2), Layout.part(dir, 4));
    TestJournals.Reading reading = check("part 2 again as part 4");
    assertEquals(3 * FACTS, reading.facts().size());
    assertEquals(1, reading.corruptions().size());
    assertEquals(
        "this directory holds a copy of part 2", reading.corruptions().getFirst().reason());
  }

  @Test
  void shouldReportAPartOfAnotherJournal() throws Exception {
    Path other = temporary.resolve("other");
    JournalOpener opener = JournalOpener.lock(other).orElseThrow();
    for (int part = 1; part <= 4; part++) {
      try (Journal journal =
          opener
              .append(TestJournals.small(), new UUID(3, 4), 3L * FACTS, 1, new TestJournals.Rolls())
              .orElseThrow()) {
        journal.append(1, TestJournals.small(1));
      }
      opener = JournalOpener.lock(other).orElseThrow();
    }
    opener.close();
    copy(Layout.part(other, 4), Layout.part(dir, 4));
    TestJournals.Reading reading = check("a foreign part");
    assertEquals(3 * FACTS, reading.facts().size());
    assertTrue(reading.corruptions().getFirst().reason().contains("belongs to another journal"));
  }

  @Test
  void shouldReadWithoutChroniclesOwnTable() throws Exception {
    for (int part = 1; part <= 3; part++) {
      Files.delete(Layout.part(dir, part).resolve(Layout.METADATA_FILE));
    }
    assertReads(3 * FACTS);
  }

  @Test
  void shouldSayWhereTheDamageIs() throws Exception {
    int end = used(middle);
    int at = recordStart(middle, end, 10);
    byte[] damaged = middle.clone();
    damaged[at + 4 + RecordFormat.PAYLOAD_AT] ^= 1;
    Files.write(facts(2), damaged);
    TestJournals.Reading reading = check("one record");
    assertEquals(1, reading.corruptions().size());
    Corruption corruption = reading.corruptions().getFirst();
    long lost = 2 * FACTS - 9;
    assertEquals(
        new Corruption(
            Corruption.Kind.MIDDLE, 2, at, lost - FACTS, lost - 1, 1, corruption.reason()),
        corruption);
    assertTrue(corruption.describe().contains("checksum is"), corruption.describe());
    assertTrue(corruption.describe().contains("1 fact lost"), corruption.describe());
  }

  // ---- helpers
  // -----------------------------------------------------------------------------------------------------

  /** Reads all of it and accounts for every fact. */
  private TestJournals.Reading check(String damage) throws IOException {
    TestJournals.Reading reading;
    try {
      reading = TestJournals.read(dir);
    } catch (RuntimeException e) {
      throw new AssertionError(damage, e);
    }
    Map<Long, Long> holes = new HashMap<>();
    for (Corruption corruption : reading.corruptions()) {
      if (corruption.lostFacts() > 0) {
        holes.put(corruption.afterPosition(), corruption.lostFacts());
      }
    }
    long expected = 1;
    for (Fact fact : reading.facts()) {
      if (fact.position() != expected) {
        Long lost = holes.remove(expected - 1);
        assertNotNull(lost, damage + ": silent hole before " + fact.position());
        assertEquals(fact.position(), expected + lost, damage);
      }
      assertEquals(written.get((int) fact.position() - 1), fact, damage);
      expected = fact.position() + 1;
    }
    assertEquals(Map.of(), holes, damage);
    if (reading.tail() != null) {
      assertEquals(expected - 1, reading.tail().afterPosition(), damage);
    }
    return reading;
  }

  private void assertReads(int facts) throws IOException {
    TestJournals.Reading reading = TestJournals.read(dir);
    assertEquals(facts, reading.facts().size());
    assertEquals(List.of(), reading.corruptions());
    assertNull(reading.tail());
  }

  private Path facts(int part) {
    return Layout.facts(Layout.part(dir, part));
  }

  private static int used(byte[] file) {
    int end = file.length;
    while (file[end - 1] == 0) {
      end--;
    }
    return end;
  }

  /** Where the document of the {@code back}th record from the end begins. */
  private static int recordStart(byte[] file, int end, int back) throws IOException {
    Path copy = Files.createTempDirectory("part");
    List<Integer> starts = new ArrayList<>();
    try {
      Files.write(Layout.facts(copy), Arrays.copyOf(file, end + 4));
      try (PartReader reader = PartReader.open(copy)) {
        while (reader.next() == PartReader.Step.RECORD) {
          starts.add((int) reader.recordAt());
        }
      }
    } finally {
      Layout.deletePart(copy);
    }
    return starts.get(starts.size() - back);
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectory(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
