package io.orbitkv.client.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An immutable list of 32-bit numbers: block indices, boundaries. Numbers at equal steps, as most
 * lists are, take no array: an array of thousands is fresh memory each time, which costs more than
 * to look it through.
 */
public final class IntRun {
  /** No numbers. */
  public static final IntRun EMPTY = new IntRun(0, 0, 0, null);

  private final int first;
  private final int step;
  private final int size;

  /** Null if the numbers are {@code first, first + step, ...}. */
  private final int @Nullable [] values;

  private IntRun(int first, int step, int size, int @Nullable [] values) {
    this.first = first;
    this.step = step;
    this.size = size;
    this.values = values;
  }

  /** Some numbers, which are copied. */
  public static IntRun of(int... values) {
    return owning(values.clone());
  }

  /** An array that nobody writes any more. */
  public static IntRun owning(int[] values) {
    return new IntRun(0, 0, values.length, values);
  }

  /** {@code count} consecutive numbers. */
  public static IntRun range(int from, int count) {
    return steps(from, 1, count);
  }

  /** {@code first, first + step, ...}: {@code count} numbers. */
  public static IntRun steps(int first, int step, int count) {
    if (count < 0) {
      throw new IllegalArgumentException(count + " numbers");
    }
    return new IntRun(first, step, count, null);
  }

  /** How many there are. */
  public int size() {
    return size;
  }

  /** One of them. */
  public int get(int index) {
    if (values != null) {
      return values[index];
    }
    if (index < 0 || index >= size) {
      throw new IndexOutOfBoundsException(index);
    }
    return first + index * step;
  }

  /** A copy. */
  public int[] toArray() {
    if (values != null) {
      return values.clone();
    }
    int[] all = new int[size];
    for (int i = 0; i < size; i++) {
      all[i] = first + i * step;
    }
    return all;
  }

  /** The array itself, null if the numbers are at equal steps. */
  int @Nullable [] shared() {
    return values;
  }

  /** Where the run of equal steps ends that begins at an index; two numbers always make one. */
  int runEnd(int from) {
    if (values == null || from + 1 >= size) {
      return size;
    }
    int by = values[from + 1] - values[from];
    int end = from + 2;
    while (end < size && values[end] - values[end - 1] == by) {
      end++;
    }
    return end;
  }

  @Override
  public boolean equals(@Nullable Object object) {
    if (!(object instanceof IntRun other) || size != other.size) {
      return false;
    }
    if (values != null && other.values != null) {
      return Arrays.equals(values, other.values);
    }
    for (int i = 0; i < size; i++) {
      if (get(i) != other.get(i)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = 0; i < size; i++) {
      hash = 31 * hash + get(i);
    }
    return hash;
  }

  @Override
  public String toString() {
    return Arrays.toString(toArray());
  }
}
