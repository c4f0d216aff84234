package io.orbitkv.core.eviction;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.collections.Int2IntHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Hits of leading blocks, request by request, as the manager counts them: the hit blocks are
 * touched in order, victims are taken for all that are missing, and then those come in order.
 */
class NeverBelowLruTest {
  private static final long SEED = 7;

  /**
   * Conversations that grow turn by turn over three shared heads, and documents of 60 blocks that
   * are read once.
   *
   * @param live conversations at a time
   */
  private static List<int[]> conversations(int live, double documentShare, int requests) {
    Random random = new Random(SEED);
    int[][] conversations = new int[live][];
    Arrays.setAll(conversations, i -> new int[] {random.nextInt(3)});
    List<int[]> trace = new ArrayList<>();
    int next = 3;
    for (int i = 0; i < requests; i++) {
      int[] request;
      if (random.nextDouble() < documentShare) {
        request = new int[60];
        Arrays.setAll(request, at -> at);
        for (int at = 0; at < request.length; at++) {
          request[at] = next++;
        }
      } else {
        int which = random.nextInt(live);
        int[] before =
            random.nextInt(8) == 0 ? new int[] {random.nextInt(3)} : conversations[which];
        request = Arrays.copyOf(before, before.length + 3 + random.nextInt(10));
        for (int at = before.length; at < request.length; at++) {
          request[at] = next++;
        }
        conversations[which] = request;
      }
      trace.add(request);
    }
    return trace;
  }

  private static long hits(List<int[]> trace, int capacity, EvictionPolicy policy) {
    Int2IntHashMap slotByKey = new Int2IntHashMap(-1);
    int[] keyBySlot = new int[capacity];
    int used = 0;
    long hits = 0;
    for (int[] request : trace) {
      int hit = 0;
      while (hit < request.length && slotByKey.containsKey(request[hit])) {
        policy.touched(slotByKey.get(request[hit++]));
      }
      hits += hit;
      int[] room = new int[request.length];
      for (int at = hit; at < request.length; at++) {
        room[at] = -1;
        if (slotByKey.containsKey(request[at])) {
          policy.touched(slotByKey.get(request[at]));
        } else if (used < capacity) {
          room[at] = used++;
        } else {
          room[at] = policy.takeVictim(slot -> true);
          slotByKey.remove(keyBySlot[room[at]]);
        }
      }
      for (int at = hit; at < request.length; at++) {
        if (room[at] >= 0) {
          keyBySlot[room[at]] = request[at];
          slotByKey.put(request[at], room[at]);
          policy.entered(room[at], hash(request[at]));
        }
      }
    }
    return hits;
  }

  private static long hitsOfCaffeine(List<int[]> trace, int capacity) {
    Cache<Long, Boolean> cache =
        Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run).build();
    long hits = 0;
    for (int[] request : trace) {
      int hit = 0;
      while (hit < request.length && cache.asMap().containsKey(hash(request[hit]))) {
        hit++;
      }
      hits += hit;
      for (int at = 0; at < request.length; at++) {
        var _ = cache.get(hash(request[at]), key -> true);
      }
      cache.cleanUp();
    }
    return hits;
  }

  @ParameterizedTest
  @CsvSource({
    "20, 0, 2000",
    "20, 0.1, 2000",
    "50, 0.1, 2000",
    "50, 0, 6000",
    "50, 0.1, 6000",
    "100, 0, 6000",
    "100, 0.1, 6000"
  })
  void shouldHitAtLeastWhatLruHitsWhereRecencySaysAll(int live, double documents, int capacity) {
    List<int[]> trace = conversations(live, documents, 4_000);
    long lru = hits(trace, capacity, new LruPolicy());
    long tinyLfu = hits(trace, capacity, new TinyLfuPolicy());
    long caffeine = hitsOfCaffeine(trace, capacity);
    String figures = "LRU %,d, tinylfu %,d, Caffeine %,d".formatted(lru, tinyLfu, caffeine);
    assertTrue(tinyLfu >= lru * 0.995, figures);
    assertTrue(tinyLfu >= caffeine, figures);
  }

  @ParameterizedTest
  @CsvSource({"20, 2000, 1.2", "50, 2000, 1.5", "100, 2000, 1.5", "100, 6000, 1.3"})
  void shouldHitFarMoreThanLruWhereDocumentsPassThrough(int live, int capacity, double factor) {
    List<int[]> trace = conversations(live, 0.5, 4_000);
    long lru = hits(trace, capacity, new LruPolicy());
    long tinyLfu = hits(trace, capacity, new TinyLfuPolicy());
    long caffeine = hitsOfCaffeine(trace, capacity);
    String figures = "LRU %,d, tinylfu %,d, Caffeine %,d".formatted(lru, tinyLfu, caffeine);
    assertTrue(tinyLfu >= lru * factor, figures);
    assertTrue(tinyLfu >= caffeine, figures);
  }

  @Test
  void shouldBecomeLruWhereThatIsBest() {
    TinyLfuPolicy policy = new TinyLfuPolicy();
    hits(conversations(50, 0, 4_000), 6_000, policy);
    assertTrue(policy.windowShare() == TwoRegions.WHOLE, "window of " + policy.windowShare());
  }

  private static long hash(int key) {
    long mixed = (key + 1) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    return mixed ^ (mixed >>> 29);
  }
}
