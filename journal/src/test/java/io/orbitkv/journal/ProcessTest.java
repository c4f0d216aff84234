package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The journal in a process of its own: killed in mid-append, and watched for what it leaves behind.
 */
class ProcessTest {
  @TempDir Path temporary;

  @Test
  void shouldLoseNoFactThatWasToldOfWhenKilled() throws Exception {
    long seed = Long.getLong("orbitkv.seed", System.nanoTime());
    int kills = Boolean.getBoolean("orbitkv.long") ? 100 : 3;
    System.out.printf("%d kills in mid-append, seed %d (-Dorbitkv.long=true: 100)%n", kills, seed);
    Random random = new Random(seed);
    Path dir = temporary.resolve("journal");
    Path told = temporary.resolve("told");
    Path home = Files.createDirectory(temporary.resolve("home"));
    long last = 0;
    for (int kill = 0; kill < kills; kill++) {
      String where = "kill " + kill + ", repeat with -Dorbitkv.seed=" + seed;
      Process process =
          AppendingProcess.start(
              home,
              temporary,
              dir.toString(),
              told.toString(),
              Long.toString(random.nextLong()),
              Long.toString(Long.MAX_VALUE));
      awaitMore(process, told, last, where);
      Thread.sleep(random.nextInt(150));
      process.destroyForcibly();
      assertTrue(process.waitFor(10, TimeUnit.SECONDS), where);
      long promised = position(told);

      Recovered.Opened opened =
          assertInstanceOf(
              Recovered.Opened.class,
              Recovery.open(dir, TestJournals.small(), System.currentTimeMillis() * 1000),
              where);
      opened.journal().close();
      assertTrue(
          opened.report().lastPosition() >= promised,
          where + ": told of " + promised + ", recovered " + opened.report());
      assertEquals(List.of(), opened.report().wrongDigests(), where);
      assertEquals(List.of(), opened.report().corruptions(), where);
      last = opened.report().lastPosition();
    }
    Replay replay =
        Replayer.run(
            JournalReader.open(dir),
            ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
            ReplayHooks.NONE);
    assertTrue(replay.clean(), replay.ending() + " " + replay.corruptions());
    assertEquals(last, replay.facts());
  }

  @Test
  void shouldWriteNothingOutsideItsDirectoryAndStayQuiet() throws Exception {
    Path home = Files.createDirectory(temporary.resolve("home"));
    Path working = Files.createDirectory(temporary.resolve("working"));
    Process process =
        AppendingProcess.start(
            home,
            working,
            temporary.resolve("journal").toString(),
            temporary.resolve("told").toString(),
            "1",
            "20000");
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    assertEquals(20_000, position(temporary.resolve("told")));
    assertEquals(List.of(), below(home));
    assertEquals(List.of(), below(working));
    assertTrue(!output.contains("Chronicle core loaded") && !output.contains("analytics"), output);
    List<String> unexpected = output.lines().filter(line -> !line.contains("Affinity")).toList();
    assertEquals(List.of(), unexpected);
  }

  private static void awaitMore(Process process, Path told, long last, String where)
      throws Exception {
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (position(told) <= last) {
      if (!process.isAlive()) {
        throw new AssertionError(
            where
                + ": exit "
                + process.exitValue()
                + " "
                + new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      }
      assertTrue(System.nanoTime() < deadline, where);
      Thread.sleep(5);
    }
  }

  private static long position(Path told) throws IOException {
    try {
      byte[] bytes = Files.readAllBytes(told);
      return bytes.length == 8 ? ByteBuffer.wrap(bytes).getLong() : 0;
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  private static List<String> below(Path dir) throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      return files.filter(path -> !path.equals(dir)).map(Path::toString).toList();
    }
  }
}
