package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.manager.workload.Conversations;
import io.orbitkv.manager.workload.LruModel;
import io.orbitkv.manager.workload.Trace;
import org.junit.jupiter.api.Test;

/** The whole data path, through a Manager in a process of its own. */
class TraceBenchTest {

  @Test
  void shouldHitExactlyWhatAnLruOfThatSizeHits() {
    Trace trace = Conversations.trace(11, 60);
    int capacityBlocks = 400;
    LruModel model = new LruModel(capacityBlocks);
    model.play(trace);
    TraceBench.Result result = TraceBench.play(trace, "lru", capacityBlocks, 4_096, _ -> {});
    assertEquals(model.hits(), result.totals().hitBlocks());
    assertEquals(model.evictions(), result.evictions());
    assertEquals(0, result.totals().refusedBlocks());
    assertEquals(4_096 * model.hits(), result.totals().checkedBytes());
  }
}
