package io.orbitkv.core.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FrequencySketchTest {
  private static final int BLOCKS = 4_096;

  @Test
  void shouldNeverCountTooLowAndSeldomTooHigh() {
    FrequencySketch sketch = new FrequencySketch();
    sketch.ensureCapacity(BLOCKS);
    int tooHigh = 0;
    for (int key = 0; key < 3 * BLOCKS; key++) {
      int times = key % 3;
      for (int i = 0; i < times; i++) {
        sketch.increment(key);
      }
    }
    for (int key = 0; key < 3 * BLOCKS; key++) {
      assertTrue(sketch.frequency(key) >= key % 3, "key " + key);
      tooHigh += sketch.frequency(key) > key % 3 ? 1 : 0;
    }
    assertTrue(tooHigh < 3 * BLOCKS / 50, tooHigh + " of " + 3 * BLOCKS + " are too high");
  }

  @Test
  void shouldHalveAllCountsAtOnce() {
    FrequencySketch sketch = new FrequencySketch();
    sketch.ensureCapacity(BLOCKS);
    for (int key = 0; key < 100; key++) {
      sketch.increment(key);
      sketch.increment(key);
    }
    int old = 100;
    int filler = 1_000_000;
    while (old == 100) {
      sketch.increment(filler);
      old = 0;
      for (int key = 0; key < 100; key++) {
        old += sketch.frequency(key) >= 2 ? 1 : 0;
      }
    }
    assertEquals(0, old, "keys that kept their count where others were halved");
  }

  @Test
  void shouldKeepCountsAsItGrows() {
    FrequencySketch sketch = new FrequencySketch();
    for (int key = 0; key < 20; key++) {
      sketch.increment(key);
      sketch.increment(key);
    }
    sketch.ensureCapacity(100_000);
    for (int key = 0; key < 20; key++) {
      assertTrue(sketch.frequency(key) >= 2);
    }
  }

  @Test
  void shouldForgetWhatIsAskedForNoMore() {
    FrequencySketch sketch = new FrequencySketch();
    sketch.ensureCapacity(BLOCKS);
    for (int i = 0; i < 3; i++) {
      sketch.increment(7);
    }
    assertEquals(FrequencySketch.MAX_FREQUENCY, sketch.frequency(7));
    for (int i = 0; i < 30 * BLOCKS; i++) {
      sketch.increment(1_000_000 + i % 16);
    }
    assertEquals(0, sketch.frequency(7));
  }
}
