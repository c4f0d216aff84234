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

  @Test
  void shouldHitExactlyWhatTwoLevelsHit() {
    shouldHitWhatTwoLevelsHit(Conversations.trace(11, 120), 300, 1_200);
  }

  /** The conversation trace, where it lies beside the repository; all of it with --long. */
  @Test
  void shouldHitExactlyWhatTwoLevelsHitOnTheConversationTrace() {
    Path file = ReferenceTraceTest.file();
    if (!Files.exists(file)) {
      System.out.println("skipped: no trace at " + file);
    }
    assumeTrue(Files.exists(file), "no trace at " + file);
    boolean whole = Boolean.getBoolean("orbitkv.long");
    if (!whole) {
      System.out.println("shortened: 400 requests of the conversation trace, all with --long");
    }
    shouldHitWhatTwoLevelsHit(
        TraceFile.read(file, whole ? Integer.MAX_VALUE : 400),
        whole ? 5_000 : 700,
        whole ? 20_000 : 2_800);
  }

  /**
   * What is in memory is on SSD as well, or on its way there, and every use moves a block in both
   * orders. So the two levels hit what one as large as the lower one does.
   */
  private static void shouldHitWhatTwoLevelsHit(Trace trace, int poolBlocks, int ssdBlocks) {
    LruModel memory = new LruModel(poolBlocks);
    memory.play(trace);
    LruModel both = new LruModel(ssdBlocks);
    both.play(trace);
    TraceBench.Result result =
        TraceBench.play(trace, "lru", poolBlocks, 4_096, ssdBlocks, null, _ -> {});
    TraceBench.TierFigures tier = Objects.requireNonNull(result.tier());
    assertEquals(0, tier.skippedBlocks());
    assertEquals(0, tier.failedBlocks());
    assertEquals(0, result.totals().refusedBlocks());
    assertEquals(both.hits(), result.totals().hitBlocks());
    assertTrue(both.hits() > memory.hits(), "memory alone hits " + memory.hits());
    assertTrue(tier.readBlocks() > 0 && tier.readBytes() > 0, "the disk was needed");
    assertEquals(4_096 * both.hits(), result.totals().checkedBytes());
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
