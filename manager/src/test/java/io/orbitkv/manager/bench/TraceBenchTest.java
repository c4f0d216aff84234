package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.manager.workload.Conversations;
import io.orbitkv.manager.workload.LruModel;
import io.orbitkv.manager.workload.ReferenceTraceTest;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TraceFile;
import java.nio.file.Files;
import java.nio.file.Path;
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

  private static void shouldHitWhatTheModelHits(Trace trace, int capacityBlocks) {
    LruModel model = new LruModel(capacityBlocks);
    model.play(trace);
    TraceBench.Result result = TraceBench.play(trace, "lru", capacityBlocks, 4_096, _ -> {});
    assertEquals(model.hits(), result.totals().hitBlocks());
    assertEquals(model.evictions(), result.evictions());
    assertEquals(0, result.totals().refusedBlocks());
    assertEquals(4_096 * model.hits(), result.totals().checkedBytes());
  }
}
