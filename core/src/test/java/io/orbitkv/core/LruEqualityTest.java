package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The whole data path, one request at a time, hits exactly what a literal LRU of N blocks hits: hit
 * blocks are touched in order, then every missing block is inserted in order.
 */
class LruEqualityTest {
  private static final int MAX_REQUEST = 24;

  /**
   * Multi-turn conversations over shared heads: prompts that share prefixes, grow, and come back.
   */
  private static List<int[]> trace(long seed, int requests) {
    Random random = new Random(seed);
    List<int[]> conversations = new ArrayList<>();
    List<int[]> trace = new ArrayList<>();
    int next = 1;
    for (int i = 0; i < requests; i++) {
      boolean goOn = !conversations.isEmpty() && random.nextInt(3) > 0;
      int[] base =
          goOn
              ? conversations.get(random.nextInt(conversations.size()))
              : new int[] {-1 - random.nextInt(3)};
      int keep = random.nextInt(5) == 0 ? 1 + random.nextInt(base.length) : base.length;
      int grow = 1 + random.nextInt(6);
      int[] request = Arrays.copyOf(base, Math.min(MAX_REQUEST, keep + grow));
      for (int at = keep; at < request.length; at++) {
        request[at] = next++;
      }
      conversations.add(request);
      trace.add(request);
    }
    return trace;
  }

  /** Hits of the oracle: {@code OrderedDict} of the reference, capacity in blocks. */
  private static int[] oracle(List<int[]> trace, int capacity) {
    LinkedHashMap<Integer, Boolean> cache = new LinkedHashMap<>();
    int[] hits = new int[trace.size()];
    for (int i = 0; i < hits.length; i++) {
      int[] ids = trace.get(i);
      int hit = 0;
      while (hit < ids.length && cache.containsKey(ids[hit])) {
        hit++;
      }
      hits[i] = hit;
      for (int id : ids) {
        cache.putLast(id, true);
        if (cache.size() > capacity) {
          cache.pollFirstEntry();
        }
      }
    }
    return hits;
  }

  @ParameterizedTest
  @CsvSource({
    "24, 1000",
    "24, 1",
    "31, 1000",
    "64, 1000",
    "64, 7",
    "200, 1000",
    "200, 3",
    "5000, 1000"
  })
  void shouldHitExactlyWhatALiteralLruHits(int capacity, int publishBatch) {
    long seed = 20261130;
    List<int[]> trace = trace(seed, 600);
    int[] expected = oracle(trace, capacity);
    TestLoop loop =
        new TestLoop(
            TestLoop.config(capacity).inlineCopyBytes(capacity % 2 == 0 ? 0 : 1 << 20).build());
    FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, MAX_REQUEST, Formats.LAYER_BYTES);
    long session = loop.open("engine", pages);
    for (int i = 0; i < expected.length; i++) {
      int[] request = trace.get(i);
      assertEquals(
          expected[i],
          hit(loop, session, request),
          "request " + i + ", seed " + seed + ", capacity " + capacity + ", batch " + publishBatch);
      for (int from = expected[i]; from < request.length; from += publishBatch) {
        int to = Math.min(request.length, from + publishBatch);
        loop.publishNow(session, "p", TestLoop.numbered(Arrays.copyOfRange(request, from, to)));
      }
    }
    loop.check(new HostState());
    loop.checkIdle();
  }

  private static int hit(TestLoop loop, long session, int[] request) {
    Keys keys = TestLoop.numbered(request);
    Reply reply = loop.query(session, "q", QueryMode.LEASE, keys).last();
    if (reply instanceof Reply.Ready ready) {
      int blocks = ready.boundaryToken() / Formats.PAGE;
      TestLoop.Answers restored = loop.restore(session, ready.leaseId(), 0, TestLoop.upTo(blocks));
      loop.drain();
      restored.last(Reply.Restored.class);
      loop.release(session, ready.leaseId());
      return blocks;
    }
    return 0;
  }
}
