package io.orbitkv.core.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IntToIntMapTest {
  private static final long SEED = Long.getLong("orbitkv.test.seed", 20260101L);

  @Test
  void shouldAgreeWithAMap() {
    System.out.println("IntToIntMapTest: repeat with -Dorbitkv.test.seed=" + SEED);
    Random random = new Random(SEED);
    IntToIntMap map = new IntToIntMap();
    Map<Integer, Integer> model = new HashMap<>();
    for (int i = 0; i < 200_000; i++) {
      int key = random.nextInt(5_000) * 8;
      if (random.nextBoolean()) {
        map.put(key, i);
        model.put(key, i);
      } else {
        map.remove(key);
        model.remove(key);
      }
      int asked = random.nextInt(5_000) * 8;
      assertEquals(model.getOrDefault(asked, -1), map.get(asked), "key " + asked);
    }
    model.forEach((key, value) -> assertEquals(value, map.get(key), "key " + key));
  }

  @Test
  void shouldTakeNoMoreRoomWhenItKnowsHowManyCome() {
    IntToIntMap map = new IntToIntMap();
    map.expect(1_000_000);
    long before = map.heapBytes();
    for (int i = 0; i < 1_000_000; i++) {
      map.put(i * 8, i);
    }
    assertEquals(before, map.heapBytes());
    assertTrue(before <= 12_600_000, before + " bytes for a million");
    for (int i = 0; i < 1_000_000; i++) {
      assertEquals(i, map.get(i * 8));
    }
  }

  /** Extents of one size start at multiples of it. */
  @Test
  void shouldTakeLittleRoom() {
    IntToIntMap map = new IntToIntMap();
    for (int i = 0; i < 1_000_000; i++) {
      map.put(i * 8, i);
    }
    assertTrue(map.heapBytes() <= 12_600_000, map.heapBytes() + " bytes for a million");
  }
}
