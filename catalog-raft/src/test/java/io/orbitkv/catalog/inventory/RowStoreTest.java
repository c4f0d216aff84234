package io.orbitkv.catalog.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** {@link RowStore} against a map, and its size. */
class RowStoreTest {
  private record Cell(long high, long low, int view, int tier) {}

  @Test
  void shouldHoldWhatAMapHolds() {
    for (int seed = 1; seed <= 20; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      RowStore store = new RowStore();
      Map<Cell, Long> model = new HashMap<>();
      for (int i = 0; i < 20_000; i++) {
        Cell cell =
            new Cell(
                (long) random.nextInt(3) << 58 | random.nextInt(5),
                random.nextInt(200),
                random.nextInt(3),
                random.nextInt(2));
        long generation = random.nextInt(5);
        if (random.nextInt(5) < 3) {
          assertEquals(
              !model.containsKey(cell),
              store.put(cell.high, cell.low, cell.view, cell.tier, generation, 1));
          model.merge(cell, generation, Math::max);
        } else {
          Long held = model.get(cell);
          boolean goes = held != null && held <= generation;
          assertEquals(goes, store.remove(cell.high, cell.low, cell.view, cell.tier, generation));
          if (goes) {
            model.remove(cell);
          }
        }
        if (i % 5000 == 4999) {
          store.restartSweep();
          int dead = random.nextInt(3);
          while (store.sweep(1 + random.nextInt(50), view -> view == dead)) {
            // Rows go while rows come.
            long low = random.nextInt(200);
            int view = (dead + 1) % 3;
            store.put(0, low, view, 0, 9, 1);
            model.put(new Cell(0, low, view, 0), 9L);
          }
          model.keySet().removeIf(cellOfView -> cellOfView.view == dead);
        }
      }
      assertEquals(model, contents(store), "seed " + seed);
      assertEquals(model.size(), store.rows());
    }
  }

  @Test
  void shouldTakeAtMost48BytesARowAndGiveThemBack() {
    RowStore store = new RowStore();
    SplittableRandom random = new SplittableRandom(1);
    int rows = 200_000;
    for (int i = 0; i < rows; i++) {
      store.put(random.nextLong(), random.nextLong(), i & 1, 0, i, 1);
      if (i > 10_000 && i % 1000 == 0) {
        double perRow = store.bytes() / (i + 1.0);
        assertTrue(perRow <= 48, i + " rows take " + perRow + " bytes each");
      }
    }
    store.restartSweep();
    while (store.sweep(1000, view -> true)) {
      assertTrue(store.rows() >= 0);
    }
    assertEquals(0, store.rows());
    assertTrue(store.bytes() < 100_000, "still " + store.bytes() + " bytes");
  }

  private static Map<Cell, Long> contents(RowStore store) {
    Map<Cell, Long> found = new HashMap<>();
    store.forEach(
        (high, low, view, tier, generation, kib) ->
            found.put(new Cell(high, low, view, tier), generation));
    return found;
  }
}
