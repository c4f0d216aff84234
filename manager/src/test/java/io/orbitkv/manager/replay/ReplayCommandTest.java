package io.orbitkv.manager.replay;

import static io.orbitkv.manager.replay.JournalScript.answer;
import static io.orbitkv.manager.replay.JournalScript.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.LongRanges;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayCommandTest {
  @TempDir Path dir;

  /** Two epochs, the first crashed; things are open at the end. */
  private void incident() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa", "ab", "ac");
      long lease = script.lease(session, "r-2", LongRanges.of(first, 2), answer(0, 4, 2, 1, "ad"));
      long restore = script.restore(session, lease, 2);
      script.restored(restore, RestoreOutcome.DONE, 131_072);
      script.release(lease, LeaseEnd.RELEASED);
      script.digest();
      script.pass(4_000_000);
      long expired = script.lease(session, "r-3", LongRanges.of(first, 1), answer(0, 1, 1, 0));
      script.restore(session, expired, 1);
      script.evict(first, 2, EvictionCause.CAPACITY, session, "r-4");
      script.reserve(session, "r-4", 0, 0, keys("ba", "bb"));
      script.add(
          new HostEvent.TicketOpened(
              1, session, "r-5", LongRanges.of(script.state.nextBlockId() - 2, 2)));
      script.pass(45_000_000).digest();
    }
  }

  @Test
  void shouldSummarize() throws Exception {
    incident();
    Cli.replay(dir)
        .replacing(dir.toString(), "DIR")
        .replacing("files of [0-9.]+ .iB", "files of SIZE")
        .assertGolden("summary");
  }

  @Test
  void shouldSummarizeAMoment() throws Exception {
    incident();
    Cli.replay(dir, "--at", "8").assertGolden("at-index");
    Cli.replay(dir, "--at", "-30s").assertGolden("at-relative");
    Cli.replay(dir, "--at", "12:00:30").assertGolden("at-time");
    Cli before = Cli.replay(dir, "--at", "12:00");
    assertEquals(1, before.exit);
    assertTrue(before.err.contains("The oldest fact is at position 1, 2026-11-30T12"), before.err);
    Cli nowhere = Cli.replay(dir, "--at", "yesterday");
    assertEquals(2, nowhere.exit);
    assertTrue(nowhere.err.contains("-5m"), nowhere.err);
  }

  @Test
  void shouldPrintAndFilterEvents() throws Exception {
    incident();
    Cli.replay(dir, "--events").assertGolden("events");
    Cli.replay(dir, "--events", "--request", "r-2").assertGolden("events-request");
    Cli.replay(dir, "--events", "--lease", "2").assertGolden("events-lease");
    Cli.replay(dir, "--events", "--block", "2").assertGolden("events-block");
    Cli.replay(dir, "--events", "--type", "leasegranted,BlocksEvicted", "--since", "-60s")
        .assertGolden("events-type");
    Cli.replay(dir, "--events", "--instance", "vllm-0", "--since", "9", "--until", "10")
        .assertGolden("events-instance");
    Cli.replay(dir, "--events", "--limit", "2", "--json").assertGolden("events-json");
    Cli unknown = Cli.replay(dir, "--events", "--type", "LeaseGrantd");
    assertEquals(2, unknown.exit);
    assertTrue(unknown.err.contains("did you mean LeaseGranted?"), unknown.err);
  }

  @Test
  void shouldWriteJsonForEveryFact() throws Exception {
    incident();
    ObjectMapper mapper = new ObjectMapper();
    Cli events = Cli.replay(dir, "--events", "--json");
    List<JsonNode> lines = new ArrayList<>();
    for (String line : events.out.lines().toList()) {
      lines.add(mapper.readTree(line));
    }
    assertEquals(17, lines.size());
    for (int i = 0; i < lines.size(); i++) {
      assertEquals(i + 1, lines.get(i).get("position").asLong());
      assertTrue(FactFilter.knownTypes().contains(lines.get(i).get("type").asText()));
    }
    JsonNode summary = mapper.readTree(Cli.replay(dir, "--json").out);
    assertEquals(5, summary.at("/state/totals/asked_blocks").asLong());
    assertEquals(3, summary.at("/state/totals/hit_blocks").asLong());
    JsonNode leaks = mapper.readTree(Cli.replay(dir, "--leaks", "--json").out);
    assertEquals(5, leaks.get("open").size());
  }

  @Test
  void shouldSayWhatATimeZoneLooksLike() {
    Cli told = Cli.replay(dir, "--zone", "Nowhere");
    assertEquals(2, told.exit);
    assertTrue(told.err.contains("'Nowhere' is no time zone such as"), told.err);
    assertFalse(told.err.contains("java.time"), told.err);
  }

  @Test
  void shouldListLeaks() throws Exception {
    incident();
    Cli.replay(dir, "--leaks").assertGolden("leaks");
    Cli.replay(dir, "--leaks", "--at", "8").assertGolden("leaks-at");
  }

  @Test
  void shouldVerify() throws Exception {
    incident();
    Cli.replay(dir, "--verify", "--deep-every", "1").assertGolden("verify");
  }

  @Test
  void shouldFindAWrongDigest() throws Exception {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      script.digest();
      script.add(new HostEvent.DigestRecorded(script.state.digest() ^ 1, 1, 0));
      script.publish(session, "r-2", "ab");
      script.digest();
    }
    Cli.replay(dir, "--verify").assertGolden("verify-wrong-digest");
  }

  @Test
  void shouldFindWrongFigures() throws Exception {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      script.add(new HostEvent.DigestRecorded(script.state.digest(), 7, 0));
    }
    Cli verify = Cli.replay(dir, "--verify");
    assertEquals(1, verify.exit);
    assertTrue(verify.out.contains("the daemon had 7 live blocks"), verify.out);
  }

  @Test
  void shouldFindAFlippedBit() throws Exception {
    incident();
    Path facts = facts();
    byte[] whole = Files.readAllBytes(facts);
    int at = indexOf(whole, "r-2");
    try (RandomAccessFile file = new RandomAccessFile(facts.toFile(), "rw")) {
      file.seek(at);
      file.write(whole[at] ^ 1);
    }
    Cli verify = Cli.replay(dir, "--verify");
    assertEquals(1, verify.exit, verify.out);
    assertTrue(
        verify.out.contains("replay differs: facts are missing after position 6"), verify.out);
    Cli summary = Cli.replay(dir);
    assertEquals(1, summary.exit);
    assertTrue(summary.out.contains("cannot be folded beyond position 6"), summary.out);
    Cli events = Cli.replay(dir, "--events");
    assertEquals(16, events.out.lines().count(), events.out);
    assertTrue(events.err.contains("corruption in the middle"), events.err);
  }

  @Test
  void shouldFlipAnyByteAndNeverFailOtherwise() throws Exception {
    incident();
    Path facts = facts();
    byte[] whole = Files.readAllBytes(facts);
    int end = indexOf(whole, "r-5");
    int begin = indexOf(whole, "0.1.0");
    long seed = 20_261_130;
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      int at = begin + random.nextInt(end - begin);
      byte[] damaged = whole.clone();
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(facts, damaged);
      for (String question : new String[] {"--verify", "--leaks", "--events"}) {
        Cli cli = Cli.replay(dir, question);
        assertTrue(cli.exit <= 1, "seed " + seed + " byte " + at + " " + cli.err);
        assertFalse(cli.err.contains("Exception"), "seed " + seed + " byte " + at + cli.err);
      }
    }
  }

  private static int indexOf(byte[] bytes, String text) {
    String all = new String(bytes, StandardCharsets.ISO_8859_1);
    int at = all.indexOf(text);
    assertTrue(at > 0, text);
    return at;
  }

  private Path facts() throws IOException {
    try (var files = Files.walk(dir)) {
      return files.filter(file -> file.toString().endsWith(".cq4")).findFirst().orElseThrow();
    }
  }

  @Test
  void shouldReadACopyAndATornTail() throws Exception {
    incident();
    Path copy = dir.resolve("copy");
    Path copied = copy.resolve(dir.relativize(facts()));
    Files.createDirectories(copy.resolve("part-000001"));
    byte[] whole = Files.readAllBytes(facts());
    Files.write(copied, Arrays.copyOf(whole, indexOf(whole, "r-5") + 1));
    Cli summary = Cli.replay(copy);
    assertEquals(0, summary.exit, summary.err);
    assertTrue(summary.out.contains("15 facts in 1 part"), summary.out);
    assertTrue(summary.out.contains("tail cut"), summary.out);
    assertEquals(0, Cli.replay(copy, "--verify").exit);
  }

  @Test
  void shouldReadALiveJournal() throws Exception {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      Cli live = Cli.replay(dir);
      assertTrue(live.out.contains("runs on, or crashed"), live.out);
      script.add(new HostEvent.SessionClosed(session, SessionEnd.SHUTDOWN));
      script.add(new HostEvent.EpochEnded(1, "SIGTERM"));
      Cli ended = Cli.replay(dir);
      assertTrue(ended.out.contains("ended, SIGTERM"), ended.out);
      assertEquals(0, ended.exit);
    }
  }

  @Test
  void shouldFollowALiveJournal() throws Exception {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.miss(session, "r-0", "aa");
      CompletableFuture<Cli> following =
          CompletableFuture.supplyAsync(
              () -> Cli.replay(dir, "--follow", "--type", "QueryMissed", "--limit", "3"));
      script.miss(session, "r-1", "aa");
      script.miss(session, "r-2", "aa");
      Cli followed = following.get(20, TimeUnit.SECONDS);
      assertEquals(0, followed.exit, followed.err);
      assertEquals(3, followed.out.lines().count(), followed.out);
      assertTrue(followed.out.contains("for request r-2"), followed.out);
    }
  }

  @Test
  void shouldCompareTwoMoments() throws Exception {
    incident();
    Cli.replay(dir, "--diff", "7", "18").assertGolden("diff");
    assertEquals(
        Cli.replay(dir, "--diff", "7", "18").out, Cli.replay(dir, "--diff", "18", "7").out);
    JsonNode json = new ObjectMapper().readTree(Cli.replay(dir, "--diff", "7", "18", "--json").out);
    assertEquals(2, json.at("/totals/evicted_blocks.capacity").asLong());
    assertTrue(Cli.replay(dir, "--diff", "9", "9").out.contains("the same state"));
    assertEquals(2, Cli.replay(dir, "--diff", "9").exit);
  }

  @Test
  void shouldSayWhereAJournalMayBe() throws Exception {
    incident();
    Cli inside = Cli.replay(dir.resolve("part-000001"));
    assertEquals(1, inside.exit);
    assertTrue(inside.err.contains("orbitkv replay " + dir), inside.err);
    Cli above = Cli.replay(Files.createDirectories(dir.resolve("empty")));
    assertEquals(1, above.exit);
    assertTrue(above.err.contains("there is no journal in"), above.err);
    assertTrue(above.err.contains("Its parent holds one"), above.err);
    Cli nowhere = Cli.replay(dir.resolve("missing"));
    assertEquals(1, nowhere.exit);
    assertTrue(nowhere.err.contains("--journal"), nowhere.err);
    Cli file = Cli.replay(facts());
    assertEquals(1, file.exit);
    assertTrue(file.err.contains("is a file"), file.err);
  }

  @Test
  void shouldNeverWriteIntoTheJournal() throws Exception {
    incident();
    Path link = dir.resolveSibling(dir.getFileName() + "-link");
    Files.createSymbolicLink(link, dir);
    try {
      for (Path place : List.of(dir, dir.resolve("part-000001"), link)) {
        Path file = place.resolve("x.out");
        for (String[] question :
            new String[][] {
              {"--report", file.toString()}, {"--export", "perfetto", file.toString()}
            }) {
          Cli refused = Cli.replay(dir, question);
          assertEquals(1, refused.exit, refused.out);
          assertTrue(refused.err.contains("it lies in the journal"), refused.err);
          assertFalse(Files.exists(file));
        }
      }
    } finally {
      Files.delete(link);
    }
  }

  @Test
  void shouldNotBlameTheJournalForTheFileItCannotWrite(@TempDir Path elsewhere) throws Exception {
    incident();
    Path full = Path.of("/dev/full");
    Path circle = elsewhere.resolve("circle");
    Files.createSymbolicLink(circle, circle);
    for (Path file : List.of(full, circle, elsewhere, elsewhere.resolve("none/x.html"))) {
      for (String[] question :
          new String[][] {
            {"--report", file.toString()}, {"--export", "perfetto", file.toString()}
          }) {
        Cli refused = Cli.replay(dir, question);
        assertEquals(1, refused.exit, refused.out);
        assertTrue(refused.err.contains("cannot write " + file + ": "), refused.err);
        assertFalse(refused.err.contains("Exception"), refused.err);
      }
    }
  }

  @Test
  void shouldNameOnlyJournalsThatMayBeMeant(@TempDir Path above) throws Exception {
    Path picture = Files.writeString(above.resolve("file.png"), "png");
    for (int i = 0; i < 5; i++) {
      try (JournalScript script =
          JournalScript.open(Files.createDirectories(above.resolve("j" + i)))) {
        script.epoch();
      }
    }
    Cli file = Cli.replay(picture);
    assertTrue(file.err.contains("is a file"), file.err);
    assertFalse(file.err.contains("orbitkv replay " + above), file.err);
    Cli folder = Cli.replay(above);
    assertTrue(folder.err.contains("5 folders in it hold one each: " + above), folder.err);
    assertTrue(folder.err.contains("j2, .."), folder.err);
    assertFalse(folder.err.contains("j3"), folder.err);
  }

  @Test
  void shouldRefuseQuestionsThatDoNotGoTogether() throws Exception {
    incident();
    for (String[] wrong :
        new String[][] {
          {"--events", "--verify"},
          {"--why", "r-1", "--leaks"},
          {"--request", "r-1"},
          {"--why-key", "xyz"},
          {"--events", "--limit", "-1"},
          {"--json", "--why", "r-1"},
          {"--json", "--why-key", "aa"},
          {"--json", "--block", "1"},
          {"--json", "--verify"},
          {"--json", "--report", "x.html"},
          {"--json", "--export", "perfetto", "x.json"},
          {"--deep-every", "5"},
        }) {
      assertEquals(2, Cli.replay(dir, wrong).exit, String.join(" ", wrong));
    }
  }
}
