package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.state.HostEvent.RefusalCategory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A disk that fills up under a journal, for real: small file systems that are mounted for the test.
 */
class DiskFullTest {
  private static final long MIB = 1 << 20;

  @TempDir Path temporary;

  @Test
  void shouldRefuseAndResumeOnTmpfs() throws Exception {
    Path mount = Files.createDirectory(temporary.resolve("mount"));
    mounted(mount, List.of("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", mount.toString()));
  }

  @Test
  void shouldRefuseAndResumeOnExt4() throws Exception {
    Path mount = Files.createDirectory(temporary.resolve("mount"));
    Path image = temporary.resolve("image");
    skipUnless(run(List.of("truncate", "-s", "40m", image.toString())));
    skipUnless(run(List.of("mkfs.ext4", "-q", "-m", "0", image.toString())));
    mounted(mount, List.of("mount", "-o", "loop", image.toString(), mount.toString()));
  }

  private void mounted(Path mount, List<String> command) throws Exception {
    skipUnless(run(command));
    try {
      fillAndFree(mount);
    } finally {
      assertEquals("", run(List.of("umount", mount.toString())));
    }
  }

  private void fillAndFree(Path mount) throws Exception {
    Path dir = mount.resolve("journal");
    JournalOptions options =
        JournalOptions.DEFAULT.withPartBytes(2 * MIB).withRetention(Retention.KEEP_ALL);
    Recovered.Opened opened =
        assertInstanceOf(Recovered.Opened.class, Recovery.open(dir, options, Samples.AT_MICROS));
    Workload workload = new Workload(1, 64, opened.state());
    Path filler = mount.resolve("filler");
    fill(filler);
    long appended = 0;
    try (Journal journal = opened.journal()) {
      while (hasRoomSoon(journal)) {
        append(journal, workload);
        appended++;
      }
      assertTrue(appended > 1_000, appended + " facts before the disk was full");
      assertTrue(
          journal.stats().problem().orElse("").contains("no room"), journal.stats().toString());

      // What was promised can still be ended.
      for (int i = 0; i < 500; i++) {
        append(journal, workload);
      }
      assertFalse(journal.hasRoom(1, 4096));

      Files.delete(filler);
      assertTrue(hasRoomSoon(journal), journal.stats().toString());
      for (int i = 0; i < 5_000; i++) {
        assertTrue(hasRoomSoon(journal), journal.stats().toString());
        append(journal, workload);
      }
      long deadline = System.nanoTime() + 10_000_000_000L; // a failed checkpoint is tried again
      while (journal.stats().problem().isPresent() && System.nanoTime() < deadline) {
        Thread.sleep(10);
      }
      assertTrue(journal.stats().problem().isEmpty(), journal.stats().toString());
    }
    Replay replay =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertTrue(replay.clean(), replay.ending() + " " + replay.corruptions());
    assertEquals(appended + 5_500, replay.facts());
    assertEquals(workload.state().digest(), replay.state().digest());

    // A start on a full disk is a refusal, and succeeds when there is room again.
    fill(filler);
    Recovered.Refused refused =
        assertInstanceOf(Recovered.Refused.class, Recovery.open(dir, options, Samples.AT_MICROS));
    assertEquals(RefusalCategory.RESOURCE, refused.category());
    Files.delete(filler);
    Recovered.Opened again =
        assertInstanceOf(Recovered.Opened.class, Recovery.open(dir, options, Samples.AT_MICROS));
    again.journal().close();
    assertEquals(workload.state().digest(), again.state().digest());
  }

  /**
   * Room that a background thread is about to make counts; a full disk stays without for longer
   * than this.
   */
  private static boolean hasRoomSoon(Journal journal) throws InterruptedException {
    for (int i = 0; i < 150; i++) {
      if (journal.hasRoom(1, 4096)) {
        return true;
      }
      Thread.sleep(2);
    }
    return false;
  }

  private static void append(Journal journal, Workload workload) {
    var fact = workload.next(Samples.AT_MICROS + workload.state().position() + 1);
    journal.append(fact.atMicros(), fact.event());
  }

  private static void fill(Path filler) throws IOException {
    byte[] block = new byte[64 << 10];
    try (var out = Files.newOutputStream(filler)) {
      for (; ; ) {
        out.write(block);
        out.flush();
      }
    } catch (IOException e) {
      assertTrue(String.valueOf(e.getMessage()).contains("No space left"), e.toString());
    }
  }

  private static void skipUnless(String problem) {
    if (!problem.isEmpty()) {
      System.out.println("skipped: a disk to fill cannot be mounted here: " + problem);
    }
    assumeTrue(problem.isEmpty(), problem);
  }

  /** Empty when the command succeeded. */
  private static String run(List<String> command) throws InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return command + " did not end";
      }
      return process.exitValue() == 0 ? "" : command.getFirst() + ": " + output;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
