package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ConversationsTest {

  @Test
  void shouldHaveTheShapeOfTheRealTrace() {
    double tokens = 0;
    double reuse = 0;
    int seeds = 20;
    for (long seed = 1; seed <= seeds; seed++) {
      Trace trace = Conversations.trace(seed, 400);
      double hits = new LruModel(Integer.MAX_VALUE).play(trace);
      tokens +=
          trace.requests().stream().mapToInt(TraceRequest::inputTokens).average().orElseThrow();
      reuse += hits / trace.totalBlocks();
    }
    System.out.printf(
        "conversations: %.0f tokens a request, %.3f of the blocks reusable%n",
        tokens / seeds, reuse / seeds);
    assertEquals(12_000, tokens / seeds, 600);
    assertEquals(0.36, reuse / seeds, 0.02);
  }

  @Test
  void shouldRepeatBySeed() {
    Trace once = Conversations.trace(7, 100);
    Trace again = Conversations.trace(7, 100);
    Trace other = Conversations.trace(8, 100);
    for (int i = 0; i < 100; i++) {
      TraceRequest request = once.requests().get(i);
      assertEquals(request.inputTokens(), again.requests().get(i).inputTokens());
      assertEquals(request.blockCount(), again.requests().get(i).blockCount());
      for (int b = 0; b < request.blockCount(); b++) {
        assertEquals(request.block(b), again.requests().get(i).block(b));
      }
    }
    assertTrue(once.totalBlocks() != other.totalBlocks());
  }

  @Test
  void shouldGiveEachBlockItsTokens() {
    for (TraceRequest request : Conversations.trace(3, 500).requests()) {
      assertEquals(Math.ceilDiv(request.inputTokens(), 512), request.blockCount());
    }
  }
}
