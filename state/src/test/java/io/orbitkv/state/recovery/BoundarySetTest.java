package io.orbitkv.state.recovery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeedReport;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.junit.jupiter.api.Test;

@AddLifecycleHook(value = SeedReport.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class BoundarySetTest {

  @Property
  void shouldIntersectLikeSets(
      @ForAll Set<@IntRange(max = 40) Integer> left,
      @ForAll Set<@IntRange(max = 40) Integer> right) {
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
}
