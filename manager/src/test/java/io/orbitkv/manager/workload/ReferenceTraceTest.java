package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.core.eviction.Eviction;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The conversation trace, where it lies beside the repository. */
public class ReferenceTraceTest {

  /** Where it would be. */
  public static Path file() {
    return Path.of(System.getProperty("maven.multiModuleProjectDirectory", ".."))
        .resolve("../shared/traces/conversation_trace.jsonl.gz")
        .toAbsolutePath()
        .normalize();
  }

  private static Trace trace() {
    Path file = file();
    if (!Files.exists(file)) {
      System.out.println("skipped: no trace at " + file);
    }
    assumeTrue(Files.exists(file), "no trace at " + file);
    return TraceFile.read(file, Integer.MAX_VALUE);
  }

  @Test
  void shouldCountWhatAnIndependentLruCounts() {
    Trace trace = trace();
    assertEquals(288_500, trace.totalBlocks());
    assertEquals(31_840, new LruModel(5_000).play(trace));
    assertEquals(60_921, new LruModel(10_000).play(trace));
    assertEquals(105_710, new LruModel(Integer.MAX_VALUE).play(trace));
  }

  /**
   * The default policy, played by its own code, agrees with the model; the other never hits less.
   */
  @ParameterizedTest
  @CsvSource({"5000, 1.4", "10000, 1.02", "20000, 1.01", "30000, 0.995"})
  void shouldNeverHitLessByTinyLfuThanByLru(int capacityBlocks, double factor) {
    Trace trace = trace();
    long lru = new PolicyModel(capacityBlocks, Eviction.LRU.create()).play(trace);
    long tinyLfu = new PolicyModel(capacityBlocks, Eviction.TINYLFU.create()).play(trace);
    assertEquals(new LruModel(capacityBlocks).play(trace), lru);
    assertTrue(tinyLfu >= lru * factor, "LRU %,d, tinylfu %,d".formatted(lru, tinyLfu));
  }
}
