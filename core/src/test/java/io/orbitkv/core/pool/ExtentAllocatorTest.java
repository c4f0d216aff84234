package io.orbitkv.core.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtentAllocatorTest {
  private static final int GRANULE = ExtentAllocator.GRANULE_BYTES;

  @ParameterizedTest
  @ValueSource(ints = {512, 4096, 4608, 5120, 66048, 1_049_088})
  void shouldFitExactlyAsManyExtentsOfOneSizeAsThePoolHolds(int extentBytes) {
    int extents = 100;
    ExtentAllocator pool = new ExtentAllocator((long) extents * extentBytes, 1);
    List<Extent> held = fill(pool, extentBytes);
    assertEquals(extents, held.size());
    assertEquals(0, pool.freeBytes());

    Random random = new Random(7);
    for (int i = 0; i < 1_000; i++) {
      Extent gone = held.remove(random.nextInt(held.size()));
      pool.free(gone.offset(), gone.bytes());
      Extent again = pool.allocate(extentBytes);
      assertNotNull(again, "one leaves, one fits");
      held.add(again);
      assertNull(pool.allocate(extentBytes));
    }
    pool.check();
  }

  @Test
  void shouldJoinNeighboursSoThatAnEmptyPoolIsOneRun() {
    ExtentAllocator pool = new ExtentAllocator(1 << 20, 1);
    List<Extent> held = fill(pool, 3 * GRANULE);
    for (int i = 0; i < held.size(); i += 2) {
      pool.free(held.get(i).offset(), held.get(i).bytes());
    }
    assertTrue(pool.fragmentation() > 0.9, "every second extent is free");
    for (int i = 1; i < held.size(); i += 2) {
      pool.free(held.get(i).offset(), held.get(i).bytes());
    }
    assertEquals(0.0, pool.fragmentation());
    assertEquals(1 << 20, pool.largestFreeBytes());
    pool.check();
  }

  @Test
  void shouldNeverGiveAGenerationTwice() {
    ExtentAllocator pool = new ExtentAllocator(4 * GRANULE, 100);
    long last = 99;
    for (int i = 0; i < 50; i++) {
      Extent extent = pool.allocate(GRANULE);
      assertNotNull(extent);
      assertEquals(last + 1, extent.generation());
      last = extent.generation();
      pool.free(extent.offset(), extent.bytes());
    }
  }

  @Test
  void shouldRefuseToFreeWhatIsNotInUse() {
    ExtentAllocator pool = new ExtentAllocator(16 * GRANULE, 1);
    Extent extent = pool.allocate(2 * GRANULE);
    assertNotNull(extent);
    assertThrows(IllegalStateException.class, () -> pool.free(extent.offset(), GRANULE));
    assertThrows(IllegalStateException.class, () -> pool.free(extent.offset() + GRANULE, GRANULE));
    assertThrows(IllegalStateException.class, () -> pool.free(extent.offset() + 1, 2 * GRANULE));
    pool.free(extent.offset(), extent.bytes());
    assertThrows(IllegalStateException.class, () -> pool.free(extent.offset(), extent.bytes()));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void shouldAgreeWithABitmapUnderRandomRequests(long seed) {
    int granules = 4_096;
    ExtentAllocator pool = new ExtentAllocator((long) granules * GRANULE, 1);
    BitSet used = new BitSet(granules);
    List<Extent> held = new ArrayList<>();
    Random random = new Random(seed);
    for (int step = 0; step < 20_000; step++) {
      if (random.nextInt(100) < 55) {
        int bytes = 1 + random.nextInt(random.nextBoolean() ? 4 * GRANULE : 80 * GRANULE);
        Extent extent = pool.allocate(bytes);
        if (extent == null) {
          assertTrue(
              pool.largestFreeBytes() < 2L * ExtentAllocator.allocatedBytes(bytes),
              "seed " + seed + ": refused " + bytes + " with a run of " + pool.largestFreeBytes());
          continue;
        }
        int from = (int) (extent.offset() / GRANULE);
        int to = from + extent.bytes() / GRANULE;
        assertEquals(-1, overlap(used, from, to), "seed " + seed + ": extents overlap");
        assertTrue(extent.bytes() >= bytes && extent.bytes() - bytes < GRANULE);
        used.set(from, to);
        held.add(extent);
      } else if (!held.isEmpty()) {
        Extent extent = held.remove(random.nextInt(held.size()));
        used.clear(
            (int) (extent.offset() / GRANULE),
            (int) ((extent.offset() + extent.bytes()) / GRANULE));
        pool.free(extent.offset(), extent.bytes());
      }
      if (step % 500 == 0) {
        pool.check();
        assertEquals((long) used.cardinality() * GRANULE, pool.usedBytes());
      }
    }
  }

  private static int overlap(BitSet used, int from, int to) {
    int at = used.nextSetBit(from);
    return at >= 0 && at < to ? at : -1;
  }

  private static List<Extent> fill(ExtentAllocator pool, int extentBytes) {
    List<Extent> held = new ArrayList<>();
    for (Extent extent = pool.allocate(extentBytes);
        extent != null;
        extent = pool.allocate(extentBytes)) {
      held.add(extent);
    }
    return held;
  }
}
