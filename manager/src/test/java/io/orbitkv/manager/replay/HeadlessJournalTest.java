package io.orbitkv.manager.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.PartInfo;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A journal whose first part is gone, as retention leaves it, or damaged. */
class HeadlessJournalTest {
  private static final long FACTS = 7_000;

  @TempDir static Path written;
  private static long first;
  private static String whole = "";

  @TempDir Path dir;

  @BeforeAll
  static void shouldWriteSomeParts() throws IOException {
    BusyJournal.write(
        written,
        3,
        FACTS,
        JournalOptions.DEFAULT.withPartBytes(512 << 10),
        HeadlessJournalTest::awaitCheckpoint);
    whole = digestLine(written);
    List<PartInfo> parts = JournalReader.open(written).parts();
    assertTrue(parts.size() >= 2, parts.toString());
    first = parts.get(1).firstPosition();
  }

  @BeforeEach
  void shouldCopyThem() throws IOException {
    try (Stream<Path> files = Files.walk(written)) {
      for (Path file : files.toList()) {
        Path copy = dir.resolve(written.relativize(file));
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
  }

  private void loseTheFirstPart() throws IOException {
    delete(JournalReader.open(dir).parts().getFirst().path());
  }

  @Test
  void shouldStartFromACheckpointBehindDamage() throws Exception {
    Path facts = JournalReader.open(dir).parts().getFirst().path().resolve("19700101F.cq4");
    byte[] bytes = Files.readAllBytes(facts);
    bytes[300_000] ^= 4;
    Files.write(facts, bytes);
    Cli summary = Cli.replay(dir);
    assertEquals(1, summary.exit, summary.out);
    assertTrue(summary.out.contains("cannot be folded beyond"), summary.out);
    assertEquals(0, Cli.replay(dir, "--leaks").exit);
    Cli end = Cli.replay(dir, "--at", "-0s");
    assertEquals(0, end.exit, end.out);
    assertTrue(end.out.contains(whole), end.out);
    assertEquals(1, Cli.replay(dir, "--verify").exit);
  }

  private static void awaitCheckpoint() {
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (checkpoints(written).isEmpty()) {
      assertTrue(System.nanoTime() < deadline, "no checkpoint was made");
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static List<Path> checkpoints(Path dir) {
    try (Stream<Path> files = Files.list(dir)) {
      return files
          .filter(file -> file.toString().matches(".*checkpoint-\\d{20}"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path part) throws IOException {
    try (Stream<Path> files = Files.list(part)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(part);
  }

  private static String digestLine(Path dir) {
    return Cli.replay(dir)
        .out
        .lines()
        .filter(line -> line.contains("digest"))
        .findFirst()
        .orElse("");
  }

  @Test
  void shouldStartFromTheCheckpoint() throws Exception {
    loseTheFirstPart();
    assertEquals(whole, digestLine(dir));
    Cli summary = Cli.replay(dir);
    assertEquals(0, summary.exit, summary.out);
    assertTrue(
        summary.out.contains("retention deleted the facts up to " + Words.count(first - 1)),
        summary.out);
    Cli verify = Cli.replay(dir, "--verify");
    assertEquals(0, verify.exit, verify.out);
    assertTrue(verify.out.contains("folded from position " + Words.count(first)), verify.out);
    assertTrue(verify.out.startsWith("replay digest equal"), verify.out);
  }

  @Test
  void shouldSayWhichFactsItPassesOverForWantOfTheCheckpointBeforeThem() throws Exception {
    leaveACheckpointAtTheEnd();
    loseTheFirstPart();
    List<Path> checkpoints = checkpoints(dir);
    checkpoints.subList(0, checkpoints.size() - 1).forEach(HeadlessJournalTest::deleteFile);
    Cli summary = Cli.replay(dir);
    assertEquals(1, summary.exit, summary.out);
    assertTrue(summary.out.contains("the facts from " + first + " to "), summary.out);
    assertTrue(summary.out.contains("cannot be folded"), summary.out);
    Cli verify = Cli.replay(dir, "--verify");
    assertEquals(1, verify.exit, verify.out);
    assertTrue(verify.out.contains("could not be folded"), verify.out);
    assertEquals(0, Cli.replay(dir, "--events", "--limit", "3").exit);
  }

  private void leaveACheckpointAtTheEnd() throws IOException {
    switch (Recovery.open(dir, JournalOptions.DEFAULT, JournalScript.NOON_MICROS)) {
      case Recovered.Opened opened ->
          assertTrue(opened.journal().close(opened.state(), Duration.ofSeconds(20)));
      case Recovered.Refused refused -> throw new AssertionError(refused.toString());
    }
  }

  private static void deleteFile(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void shouldSayWhatItCannotKnow() throws Exception {
    loseTheFirstPart();
    String missed = firstMissBehindTheHead();
    Cli why = Cli.replay(dir, "--why", missed);
    assertEquals(0, why.exit, why.err);
    assertTrue(why.out.contains("not published since the oldest fact"), why.out);
    assertTrue(
        why.out.contains("no fact from position " + Words.count(first) + " up to the query"),
        why.out);
    Cli early = Cli.replay(dir, "--at", "1");
    assertEquals(1, early.exit, early.out);
  }

  /** A request that asked, right after the head, for keys that it published only afterwards. */
  private String firstMissBehindTheHead() throws IOException {
    var mapper = new ObjectMapper();
    Cli events = Cli.replay(dir, "--events", "--json", "--type", "QueryMissed,LeaseGranted");
    for (String line : events.out.lines().toList()) {
      var fact = mapper.readTree(line);
      if (fact.at("/answers/0/missingKeys").size() > 0) {
        return fact.get("request").asText();
      }
    }
    throw new AssertionError("nothing missed");
  }

  @Test
  void shouldSayThatTheStateIsUnknownWithoutACheckpoint() throws Exception {
    loseTheFirstPart();
    for (Path checkpoint : checkpoints(dir)) {
      Files.delete(checkpoint);
    }
    Cli summary = Cli.replay(dir);
    assertEquals(1, summary.exit);
    assertTrue(summary.out.contains("no checkpoint stands before it"), summary.out);
    Cli events = Cli.replay(dir, "--events", "--limit", "5");
    assertEquals(0, events.exit);
    assertEquals(5, events.out.lines().count());
    Cli why = Cli.replay(dir, "--why", firstMissBehindTheHead());
    assertEquals(0, why.exit, why.err);
  }
}
