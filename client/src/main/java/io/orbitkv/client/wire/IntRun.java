package io.orbitkv.client.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An immutable list of 32-bit numbers: block indices, boundaries. */
public final class IntRun {
  /** No numbers. */
  public static final IntRun EMPTY = new IntRun(new int[0]);

  private final int[] values;

  private IntRun(int[] values) {
    this.values = values;
  }

  /** Some numbers, which are copied. */
  public static IntRun of(int... values) {
    return new IntRun(values.clone());
  }

  /** An array that nobody writes any more. */
  public static IntRun owning(int[] values) {
    return new IntRun(values);
  }

  /** {@code count} consecutive numbers. */
  public static IntRun range(int from, int count) {
    int[] values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = from + i;
    }
    return new IntRun(values);
  }

  /** How many there are. */
  public int size() {
    return values.length;
  }

  /** One of them. */
  public int get(int index) {
    return values[index];
  }

  /** A copy. */
  public int[] toArray() {
    return values.clone();
  }

  int[] shared() {
    return values;
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof IntRun other && Arrays.equals(values, other.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    return Arrays.toString(values);
  }
}
