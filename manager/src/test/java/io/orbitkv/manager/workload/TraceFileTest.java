package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.manager.cli.Failure;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFileTest {
  private static final String GOOD =
      "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52,"
          + " \"hash_ids\": [46, 47, 2354]}";

  @TempDir Path dir;

  @Test
  void shouldReadLinesPlainAndCompressed() throws IOException {
    String text = GOOD + "\r\n\n  " + GOOD.replace("47", "9223372036854775807") + "\n";
    Path plain = Files.writeString(dir.resolve("trace.jsonl"), text);
    Path compressed = dir.resolve("trace.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(compressed))) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    for (Path file : List.of(plain, compressed)) {
      Trace trace = TraceFile.read(file, Integer.MAX_VALUE);
      assertEquals(2, trace.requests().size());
      TraceRequest first = trace.requests().getFirst();
      assertEquals(27_482, first.timestampMillis());
      assertEquals(6955, first.inputTokens());
      assertEquals(52, first.outputTokens());
      assertEquals(3, first.blockCount());
      assertEquals(2354, first.block(2));
      assertEquals(Long.MAX_VALUE, trace.requests().getLast().block(1));
      assertEquals(6, trace.totalBlocks());
      assertEquals(4, trace.distinctBlocks());
      assertEquals(1, TraceFile.read(file, 1).requests().size());
    }
  }

  @Test
  void shouldNameTheLineAndTheProblem() throws IOException {
    refuses("", "has no requests");
    refuses("[1]", "line 1 is no JSON object");
    refuses(GOOD + "\n\n{\"timestamp\": 1", "line 3 is no JSON: ");
    refuses(GOOD + "\n" + GOOD + " {}", "line 2 goes on behind");
    refuses(GOOD.replace("timestamp", "time"), "line 1 has no timestamp");
    refuses(GOOD.replace("input_length", "input"), "line 1 has no input_length");
    refuses(GOOD.replace("output_length", "output"), "line 1 has no output_length");
    refuses(GOOD.replace("hash_ids", "hashes"), "line 1 has no hash_ids");
    refuses(GOOD.replace("6955", "-1"), "line 1 input_length is no whole number from 0 to");
    refuses(GOOD.replace("6955", "2147483648"), "input_length is no whole number");
    refuses(GOOD.replace("6955", "\"6955\""), "input_length is no whole number");
    refuses(GOOD.replace("27482", "0.5"), "timestamp is no whole number");
    refuses(GOOD.replace("[46, 47, 2354]", "46"), "hash_ids is no list");
    refuses(GOOD.replace("47", "null"), "hash_ids[1] is no whole number");
    refuses(GOOD.replace("47", "99999999999999999999"), "hash_ids[1] is no whole number");
    refuses(GOOD.replace("}", ", \"hash_ids\": []}"), "line 1 is no JSON: Duplicate");
    refuses(
        GOOD.replace("47", "1,".repeat(TraceFile.MAX_BLOCKS) + "1"),
        "has more than 32768 hash_ids");
    refuses(GOOD + "\n" + " ".repeat(TraceFile.MAX_LINE_BYTES + 1), "line 2 is longer than");
    refuses("[".repeat(100_000), "line 1 is no JSON object");
    refuses("{\"x\":" + "[".repeat(100_000), "line 1 is no JSON: ");
  }

  @Test
  void shouldRefuseWhatCannotBeRead() throws IOException {
    Failure missing = assertThrows(Failure.class, () -> TraceFile.read(dir.resolve("missing"), 1));
    assertTrue(String.valueOf(missing.getMessage()).contains("cannot be read"));
    Path cut = dir.resolve("cut.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(cut))) {
      out.write((GOOD + "\n").repeat(1000).getBytes(StandardCharsets.UTF_8));
    }
    byte[] bytes = Files.readAllBytes(cut);
    Files.write(cut, java.util.Arrays.copyOf(bytes, bytes.length / 2));
    Failure torn = assertThrows(Failure.class, () -> TraceFile.read(cut, Integer.MAX_VALUE));
    assertTrue(String.valueOf(torn.getMessage()).contains("cannot be read"), torn::getMessage);
  }

  @Test
  void shouldNeverFailInAnotherWayOnDamagedFiles() throws IOException {
    long seed = Long.getLong("orbitkv.seed", 20_261_130L);
    Random random = new Random(seed);
    byte[] good = (GOOD + "\n" + GOOD + "\n").getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 2_000; i++) {
      byte[] damaged = good.clone();
      for (int change = 0; change <= random.nextInt(4); change++) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      Path file = Files.write(dir.resolve("damaged"), damaged);
      try {
        TraceFile.read(file, Integer.MAX_VALUE);
      } catch (Failure refused) {
        assertTrue(
            String.valueOf(refused.getMessage()).contains("line ")
                || String.valueOf(refused.getMessage()).contains("has no requests"),
            () -> refused.getMessage() + "; repeat with -Dorbitkv.seed=" + seed);
      }
    }
  }

  private void refuses(String text, String problem) throws IOException {
    Path file = Files.writeString(dir.resolve("bad.jsonl"), text);
    Failure refused =
        assertThrows(Failure.class, () -> TraceFile.read(file, Integer.MAX_VALUE), text);
    assertTrue(String.valueOf(refused.getMessage()).contains(problem), refused::getMessage);
  }
}
