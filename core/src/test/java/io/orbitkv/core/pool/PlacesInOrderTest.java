package io.orbitkv.core.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlacesInOrderTest {
  private static final long SEED = Long.getLong("orbitkv.test.seed", 20260102L);
  private static final int GRANULE = 4096;

  @Test
  void shouldGiveBooksWhatAnotherLifeLeft() {
    System.out.println("PlacesInOrderTest: repeat with -Dorbitkv.test.seed=" + SEED);
    Random random = new Random(SEED);
    long bytes = 4_000L * GRANULE;
    ExtentAllocator before = new ExtentAllocator(bytes, GRANULE, 1);
    List<Extent> live = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      Extent extent = before.allocate(GRANULE * (1 + random.nextInt(6)));
      if (extent != null) {
        live.add(extent);
      }
      if (!live.isEmpty() && (extent == null || random.nextInt(3) == 0)) {
        Extent gone = live.remove(random.nextInt(live.size()));
        before.free(gone.offset(), gone.bytes());
      }
    }

    PlacesInOrder places = new PlacesInOrder(live.size(), GRANULE);
    live.forEach(extent -> places.add(extent.offset(), extent.bytes()));
    ExtentAllocator after = new ExtentAllocator(bytes, GRANULE, 1);
    places.occupy(after);

    after.check();
    assertEquals(before.usedExtents(), after.usedExtents());
    assertEquals(before.freeBytes(), after.freeBytes());
    assertEquals(before.largestFreeBytes(), after.largestFreeBytes());
    live.forEach(extent -> after.free(extent.offset(), extent.bytes()));
    after.check();
    assertEquals(bytes, after.largestFreeBytes());
  }

  @Test
  void shouldRefuseWhatIsNotCutByGranules() {
    PlacesInOrder places = new PlacesInOrder(1, GRANULE);
    assertThrows(IllegalArgumentException.class, () -> places.add(512, GRANULE));
    assertThrows(IllegalArgumentException.class, () -> places.add(0, 512));
  }

  @Test
  void shouldRefuseExtentsThatOverlap() {
    PlacesInOrder places = new PlacesInOrder(2, GRANULE);
    places.add(GRANULE, 2 * GRANULE);
    places.add(2L * GRANULE, GRANULE);
    ExtentAllocator books = new ExtentAllocator(10L * GRANULE, GRANULE, 1);
    assertThrows(IllegalArgumentException.class, () -> places.occupy(books));
  }
}
