package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IdIndexTest {
  private static final long SEED = Long.getLong("orbitkv.test.seed", 20260101L);

  /** Runs of new ids come and single ones and whole runs go, as blocks do. */
  @Test
  void shouldAgreeWithAMap() {
    System.out.println("IdIndexTest: repeat with -Dorbitkv.test.seed=" + SEED);
    Random random = new Random(SEED);
    IdIndex index = new IdIndex();
    Map<Long, Integer> model = new HashMap<>();
    List<Long> live = new ArrayList<>();
    long next = 1;
    for (int round = 0; round < 20_000; round++) {
      if (live.size() < 3_000 || random.nextBoolean()) {
        next += random.nextInt(3);
        for (int i = random.nextInt(20); i >= 0; i--, next++) {
          int slot = random.nextInt(1 << 20);
          index.insert(next, slot);
          model.put(next, slot);
          live.add(next);
        }
      } else {
        int from = random.nextInt(live.size());
        List<Long> gone = live.subList(from, Math.min(live.size(), from + 1 + random.nextInt(20)));
        for (long id : gone) {
          index.remove(id);
          model.remove(id);
        }
        gone.clear();
      }
      long asked = random.nextLong(next + 20);
      assertEquals(model.getOrDefault(asked, -1), index.find(asked), "id " + asked);
      assertEquals(model.size(), index.size());
    }
    model.forEach((id, slot) -> assertEquals(slot, index.find(id), "id " + id));
  }

  @Test
  void shouldUseTheRoomOfIdsThatAreGone() {
    IdIndex index = new IdIndex();
    for (long id = 1; id <= 50_000; id++) {
      index.insert(id, (int) id);
    }
    long full = index.heapBytes();
    for (long id = 1; id <= 1_000_000; id++) {
      index.remove(id);
      index.insert(id + 50_000, (int) id & 0xFFFF);
    }
    assertEquals(50_000, index.size());
    assertTrue(index.heapBytes() <= full * 3 / 2, full + " bytes became " + index.heapBytes());
  }

  @Test
  void shouldTakeRunsAcrossPages() {
    IdIndex index = new IdIndex();
    index.insert(5, 100, 90);
    index.insert(200, 7, 1);
    index.remove(30, 40);
    assertEquals(51, index.size());
    for (long id = 1; id <= 220; id++) {
      boolean there = id == 200 || (id >= 5 && id < 30) || (id >= 70 && id < 95);
      int slot = id == 200 ? 7 : (int) id + 95;
      assertEquals(there ? slot : -1, index.find(id), "id " + id);
    }
    index.insert(30, 300, 40);
    assertEquals(333, index.find(63));
  }
}
