package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SamplesTest {

  @Test
  void shouldGiveNearestRanks() {
    Samples samples = new Samples();
    assertEquals(0, samples.percentileNanos(50));
    for (int i = 1000; i >= 1; i--) {
      samples.add(i);
    }
    assertEquals(1, samples.percentileNanos(0.1));
    assertEquals(500, samples.percentileNanos(50));
    assertEquals(990, samples.percentileNanos(99));
    assertEquals(999, samples.percentileNanos(99.9));
    assertEquals(1000, samples.percentileNanos(99.99));
    assertEquals(1000, samples.maxNanos());
    assertEquals(500_500, samples.totalNanos());
    samples.clear();
    samples.add(7);
    assertEquals(7, samples.percentileNanos(1));
    assertThrows(IllegalArgumentException.class, () -> samples.percentileNanos(0));
    assertThrows(IllegalArgumentException.class, () -> samples.percentileNanos(100.1));
  }

  @Test
  void shouldAgreeWithTheDefinition() {
    Random random = new Random(1);
    double[] percents = {0.1, 1, 12.5, 50, 90, 99, 99.9, 100};
    for (int round = 0; round < 300; round++) {
      long[] values = random.longs(1 + random.nextInt(400), 0, 50).toArray();
      Samples samples = new Samples();
      Arrays.stream(values).forEach(samples::add);
      for (double percent : percents) {
        long got = samples.percentileNanos(percent);
        long notAbove = Arrays.stream(values).filter(value -> value <= got).count();
        long below = Arrays.stream(values).filter(value -> value < got).count();
        double wanted = percent * values.length / 100;
        assertEquals(true, notAbove >= wanted - 1e-6 && below < wanted);
      }
    }
  }

  @Test
  void shouldTakeTheMiddleOfFigures() {
    assertEquals(3, Samples.median(9, 1, 3));
    assertEquals(2, Samples.median(1, 3));
    assertThrows(IllegalArgumentException.class, Samples::median);
  }
}
