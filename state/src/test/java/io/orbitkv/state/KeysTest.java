package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class KeysTest {
  private static final byte[] ARRAY = {9, 1, 2, 3, 4, 5, 6, 8};

  @Test
  void shouldEqualItsCopyWhereverAViewLies() {
    Keys view = Keys.view(2, ARRAY, 1, 3);
    Keys owned = Keys.ofPacked(2, new byte[] {1, 2, 3, 4, 5, 6});
    assertEquals(3, view.size());
    assertEquals(3, view.offset(1));
    assertArrayEquals(new byte[] {3, 4}, view.key(1));
    assertEquals("0506", view.hex(2));
    assertEquals(owned, view);
    assertEquals(owned.hashCode(), view.hashCode());
    assertEquals(owned, view.copy());
    assertArrayEquals(owned.packed(), view.copy().packed());
    assertEquals(owned.slice(1, 3), view.slice(1, 3));
    assertEquals(owned.slice(2, 2), view.slice(2, 2));
  }

  @Test
  void shouldNotFollowTheArrayOnceCopied() {
    byte[] array = ARRAY.clone();
    Keys copy = Keys.view(2, array, 1, 3).copy();
    array[1] = 77;
    assertArrayEquals(new byte[] {1, 2}, copy.key(0));
  }

  @Test
  void shouldRefuseAViewBeyondTheArray() {
    assertThrows(IndexOutOfBoundsException.class, () -> Keys.view(2, ARRAY, 1, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> Keys.view(2, ARRAY, -1, 2));
    assertThrows(IllegalArgumentException.class, () -> Keys.view(65, ARRAY, 0, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> Keys.view(2, ARRAY, 1, 3).slice(2, 4));
  }
}
