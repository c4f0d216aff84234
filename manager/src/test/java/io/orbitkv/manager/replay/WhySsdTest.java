package io.orbitkv.manager.replay;

import static io.orbitkv.manager.replay.JournalScript.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the SSD tier has to do with hits and misses, told from scripted journals. */
class WhySsdTest {
  private static final long FILE_BYTES = 1L << 30;

  @TempDir Path dir;

  private void assertTold(String request, String... parts) {
    Cli told = Cli.replay(dir, "--why", request);
    assertEquals(0, told.exit, told.err);
    for (String part : parts) {
      assertTrue(told.out.contains(part), part + "\nis not in\n" + told.out);
    }
  }

  /** An engine on a host with a tier. */
  private static long engine(JournalScript script) {
    script.epoch();
    script.add(new HostEvent.SsdTierOpened(7, 1, Longs.of(FILE_BYTES)));
    int namespace = script.bind("llama", "bf16", 1, 1);
    script.add(
        new HostEvent.LayersBound(
            namespace, 0, 0, Longs.of(0), Longs.of(JournalScript.EXTENT_BYTES)));
    return script.connect(script.register("vllm-0", namespace), 0);
  }

  private static LongRanges one(long block) {
    return LongRanges.of(block, 1);
  }

  private static void write(JournalScript script, long block) {
    script.add(
        new HostEvent.SsdWritten(
            one(block),
            Longs.of(0),
            Longs.of(block * JournalScript.EXTENT_BYTES),
            Longs.of(script.state.nextSsdGeneration())));
  }

  /** Publishes a block, copies it to SSD, and takes it out of memory for request r-2. */
  private static long demoted(JournalScript script, long session) {
    long block = script.publish(session, "r-1", "aa");
    write(script, block);
    script.add(new HostEvent.BlocksDemoted(one(block), EvictionCause.CAPACITY, session, "r-2"));
    return block;
  }

  private static long ticket(JournalScript script, long session, String request, long block) {
    long id = script.state.nextTicketId();
    script.add(new HostEvent.TicketOpened(id, session, request, one(block)));
    return id;
  }

  private static void load(
      JournalScript script, long session, String request, long block, long ticket) {
    script.add(
        new HostEvent.BlocksLoading(
            one(block),
            Longs.of(15L * JournalScript.EXTENT_BYTES),
            Longs.of(script.state.nextExtentGeneration()),
            ticket,
            session,
            request));
  }

  @Test
  void shouldSayThatAHitCameFromSsd() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      long block = demoted(script, session);
      long ticket = ticket(script, session, "r-3", block);
      load(script, session, "r-3", block, ticket);
      script.add(new HostEvent.BlocksLoaded(one(block), JournalScript.EXTENT_BYTES, 1_250));
      long lease = script.state.nextLeaseId();
      script.add(
          new HostEvent.LeaseGranted(
              lease,
              session,
              "r-3",
              ticket,
              Long.MAX_VALUE / 2,
              List.of(new HostEvent.GroupLease(0, 0, one(block))),
              List.of(answer(0, 1, 1, 0))));
      script.add(new HostEvent.TicketClosed(ticket, TicketEnd.READY, lease));
    }
    assertTold(
        "r-3",
        "asked for 1 block in one query, got 1 (100.0 %)",
        "1 block came from SSD: read at position 13 in 1.3 ms, 64.0 KiB",
        "BlocksLoading");
  }

  @Test
  void shouldSayForWhomACopyWasEvicted() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      long block = demoted(script, session);
      script.add(new HostEvent.SsdEvicted(one(block), SsdEvictionCause.CAPACITY, session, "r-9"));
      script.miss(session, "r-3", "aa");
      script.publish(session, "r-3", "aa");
    }
    assertTold(
        "r-3",
        "missed 1: 1 evicted from SSD",
        "its copy on SSD was evicted to make room for vllm-0 session 1 for request r-9 at position",
        "it left memory to make room for vllm-0 session 1 for request r-2 at position",
        "block 1 was begun at position");
  }

  @Test
  void shouldSayWhyABlockWasNotReadBack() throws IOException {
    LoadFailure[] reasons = {LoadFailure.IO_ERROR, LoadFailure.SHORT, LoadFailure.CHECKSUM};
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      for (LoadFailure reason : reasons) {
        long block = demoted(script, session);
        String request = "r-" + reason.name();
        long ticket = ticket(script, session, request, block);
        load(script, session, request, block, ticket);
        if (reason == LoadFailure.CHECKSUM) {
          script.add(new HostEvent.VerifyFailed(block, 0, 0, 0x11, 0x22));
        }
        script.add(
            new HostEvent.LoadFailed(
                one(block), reason, reason == LoadFailure.IO_ERROR ? "errno 5" : ""));
        script.miss(session, request, "aa");
        script.add(new HostEvent.TicketClosed(ticket, TicketEnd.MISS, 0));
      }
    }
    assertTold(
        "r-IO_ERROR",
        "1 block could not be read from SSD at position",
        "missed 1: 1 not read back from SSD",
        "io_error, errno 5; its copy was dropped");
    assertTold("r-SHORT", "not read back from SSD", "short; its copy was dropped");
    assertTold(
        "r-CHECKSUM",
        "not read back from SSD",
        "checksum; its copy was dropped",
        "had the sum 0000000000000022 instead of 0000000000000011: its bytes changed on the disk");
  }

  @Test
  void shouldSayThatATicketsTimeRanOutWhileTheDiskHung() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      long block = demoted(script, session);
      long ticket = ticket(script, session, "r-3", block);
      load(script, session, "r-3", block, ticket);
      script.add(new HostEvent.TierDegraded(TierTrouble.HANGS, "no operation ended for 2000 ms"));
      script.miss(session, "r-3", "aa");
      script.add(new HostEvent.TicketClosed(ticket, TicketEnd.EXPIRED, 0));
      script.pass(5_000_000).add(new HostEvent.TierRecovered(TierTrouble.HANGS));
      script.add(new HostEvent.BlocksLoaded(one(block), JournalScript.EXTENT_BYTES, 5_000_000));
    }
    assertTold(
        "r-3",
        "missed 1: 1 still being read from SSD",
        "a read of it was under way since position",
        "it was done only at position",
        "hangs, no operation ended for 2000 ms: nothing was read from it");
  }

  @Test
  void shouldSayThatAQueryThatDoesNotWaitGetsNothingFromSsd() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      demoted(script, session);
      script.miss(session, "r-3", "aa");
    }
    assertTold(
        "r-3",
        "missed 1: 1 on SSD only",
        "its copy on SSD was written at position",
        "the query did not wait: only one with WAIT is answered from SSD");
  }

  @Test
  void shouldSayWhyABlockNeverWentToSsd() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      script.add(new HostEvent.TierDegraded(TierTrouble.DISK_FULL, "errno 28"));
      for (SsdSkip reason : SsdSkip.values()) {
        long block = script.publish(session, "p", "aa");
        script.add(new HostEvent.SsdSkipped(one(block), reason));
        script.evict(block, 1, EvictionCause.CAPACITY, session, "r-2");
        script.miss(session, "r-" + reason.name(), "aa");
      }
    }
    assertTold(
        "r-QUEUE_FULL", "evicted for room", "it had no copy on SSD: the write queue was full");
    assertTold(
        "r-DISK_ILL",
        "it had no copy on SSD: the disk took no writes, or failed this one",
        "the tier was ill from position",
        "disk_full, errno 28");
    assertTold("r-NOT_REUSED", "only blocks that are used again go there");
    assertTold("r-TIER_FULL", "the tier was full of what was used later");
  }

  @Test
  void shouldSumTheTierUp() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      long block = demoted(script, session);
      assertTrue(Cli.replay(dir).out.contains("still pinned, 1 on SSD only\n"));
      load(script, session, "r-3", block, 0);
      script.add(new HostEvent.BlocksLoaded(one(block), JournalScript.EXTENT_BYTES, 1_250));
      script.add(new HostEvent.SsdSkipped(one(9), SsdSkip.QUEUE_FULL));
    }
    String told = Cli.replay(dir).out;
    assertTrue(told.contains("  ssd: 64.0 KiB of 1.0 GiB used, 1 extent\n"), told);
    assertTrue(told.contains("SSD tier\n  holds: 64.0 KiB of 1.0 GiB in 1 extent"), told);
    assertTrue(told.contains("  written: 1 block, 64.0 KiB; 1 left memory for it"), told);
    assertTrue(told.contains("  read back: 1 block, 64.0 KiB in 1 read of 1.3 ms"), told);
    assertTrue(told.contains("  never written: 1 queue_full"), told);
    String json = Cli.replay(dir, "--json").out;
    assertTrue(json.contains("\"ssd\""), json);
    Path page = dir.resolveSibling("report.html");
    assertEquals(0, Cli.replay(dir, "--report", page.toString()).exit);
    assertTrue(Files.readString(page).contains("<h2>SSD tier</h2>"), "the page has the tier");
    Files.delete(page);
  }

  @Test
  void shouldSayThatATierWasLostAtARestart() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = engine(script);
      long block = demoted(script, session);
      script.epoch();
      script.add(new HostEvent.SessionClosed(session, HostEvent.SessionEnd.RESTART));
      script.add(new HostEvent.SsdEvicted(one(block), SsdEvictionCause.TIER_LOST, 0, ""));
      script.add(new HostEvent.SsdTierOpened(8, 1, Longs.of(FILE_BYTES)));
      long again = script.connect(1, 0);
      script.miss(again, "r-3", "aa");
    }
    assertTold(
        "r-3",
        "missed 1: 1 lost with its SSD tier",
        "its copy on SSD was lost when the Manager started with another tier, or none");
  }
}
