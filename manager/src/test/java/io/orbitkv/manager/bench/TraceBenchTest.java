package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.manager.workload.Conversations;
import io.orbitkv.manager.workload.LruModel;
import io.orbitkv.manager.workload.ReferenceTraceTest;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TraceFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The whole data path, through a Manager in a process of its own. */
class TraceBenchTest {

  @Test
  void shouldHitExactlyWhatAnLruOfThatSizeHits() {
    shouldHitWhatTheModelHits(Conversations.trace(11, 60), 400);
  }

  /** The conversation trace, where it lies beside the repository; all of it with --long. */
  @Test
  void shouldHitExactlyWhatAnLruHitsOnTheConversationTrace() {
    Path file = ReferenceTraceTest.file();
    if (!Files.exists(file)) {
      System.out.println("skipped: no trace at " + file);
    }
    assumeTrue(Files.exists(file), "no trace at " + file);
    boolean whole = Boolean.getBoolean("orbitkv.long");
    if (!whole) {
      System.out.println("shortened: 300 requests of the conversation trace, all with --long");
    }
    shouldHitWhatTheModelHits(
        TraceFile.read(file, whole ? Integer.MAX_VALUE : 300), whole ? 10_000 : 2_000);
  }

  /** How often two levels hit is held to a model in the loop's own tests, where no disk is slow. */
  @Test
  void shouldHitMoreThanMemoryAloneWithASecondTier() {
    Trace trace = Conversations.trace(11, 120);
    LruModel memory = new LruModel(300);
    memory.play(trace);
    TraceBench.Result result = TraceBench.play(trace, "lru", 300, 4_096, 1_200, null, _ -> {});
    long hits = result.totals().hitBlocks();
    assertTrue(hits > memory.hits(), hits + " hits, memory alone has " + memory.hits());
    TraceBench.TierFigures tier = Objects.requireNonNull(result.tier());
    assertTrue(tier.readBytes() > 0, "the disk was needed");
    assertEquals(0, tier.failedBlocks());
    assertEquals(4_096 * hits, result.totals().checkedBytes());
  }

  private static void shouldHitWhatTheModelHits(Trace trace, int capacityBlocks) {
    LruModel model = new LruModel(capacityBlocks);
    model.play(trace);
    TraceBench.Result result =
        TraceBench.play(trace, "lru", capacityBlocks, 4_096, 0, null, _ -> {});
    assertEquals(model.hits(), result.totals().hitBlocks());
    assertEquals(model.evictions(), result.evictions());
    assertEquals(0, result.totals().refusedBlocks());
    assertEquals(4_096 * model.hits(), result.totals().checkedBytes());
  }
}
