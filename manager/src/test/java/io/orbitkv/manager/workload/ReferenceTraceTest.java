package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The conversation trace, where it lies beside the repository. */
public class ReferenceTraceTest {

  /** Where it would be. */
  public static Path file() {
    return Path.of(System.getProperty("maven.multiModuleProjectDirectory", ".."))
        .resolve("../shared/traces/conversation_trace.jsonl.gz")
        .toAbsolutePath()
        .normalize();
  }

  @Test
  void shouldCountWhatAnIndependentLruCounts() {
    Path file = file();
    if (!Files.exists(file)) {
      System.out.println("skipped: no trace at " + file);
    }
    assumeTrue(Files.exists(file), "no trace at " + file);
    Trace trace = TraceFile.read(file, Integer.MAX_VALUE);
    assertEquals(288_500, trace.totalBlocks());
    assertEquals(31_840, new LruModel(5_000).play(trace));
    assertEquals(60_921, new LruModel(10_000).play(trace));
    assertEquals(105_710, new LruModel(Integer.MAX_VALUE).play(trace));
  }
}
