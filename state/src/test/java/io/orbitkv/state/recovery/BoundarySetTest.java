package io.orbitkv.state.recovery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeededTries;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class BoundarySetTest {

  @Test
  void shouldIntersectLikeSets() {
    SeededTries.run(
        1_000,
        random -> {
          Set<Integer> left = boundaries(random);
          Set<Integer> right = boundaries(random);
          TreeSet<Integer> common = new TreeSet<>(left);
          common.retainAll(right);
          BoundarySet both = set(left).intersect(set(right));
          assertEquals(set(common), both);
          assertEquals(both, set(right).intersect(set(left)));
          for (int boundary = 0; boundary <= 40; boundary++) {
            assertEquals(common.contains(boundary), both.contains(boundary));
          }
          OptionalInt last = common.isEmpty() ? OptionalInt.empty() : OptionalInt.of(common.last());
          assertEquals(last, both.last());
        });
  }

  @Test
  void shouldKeepItsOwnCopy() {
    int[] given = {64, 128};
    BoundarySet set = BoundarySet.of(given);
    given[0] = 0;
    set.toArray()[1] = 0;
    assertArrayEquals(new int[] {64, 128}, set.toArray());
    assertEquals("[64, 128]", set.toString());
    assertEquals(2, set.size());
    assertEquals(128, set.get(1));
    assertFalse(set.isEmpty());
    assertTrue(BoundarySet.of().isEmpty());
  }

  @Test
  void shouldRejectBoundariesThatDoNotAscend() {
    assertThrows(IllegalArgumentException.class, () -> BoundarySet.of(64, 64));
    assertThrows(IllegalArgumentException.class, () -> BoundarySet.of(128, 64));
    assertThrows(IllegalArgumentException.class, () -> BoundarySet.of(-64));
  }

  private static BoundarySet set(Set<Integer> boundaries) {
    return BoundarySet.of(boundaries.stream().sorted().mapToInt(Integer::intValue).toArray());
  }

  private static Set<Integer> boundaries(Random random) {
    Set<Integer> boundaries = new TreeSet<>();
    for (int left = random.nextInt(20); left > 0; left--) {
      boundaries.add(random.nextInt(41));
    }
    return boundaries;
  }
}
