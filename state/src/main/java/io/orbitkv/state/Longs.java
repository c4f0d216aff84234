package io.orbitkv.state;

import java.util.Arrays;

/**
 * An immutable list of 64-bit numbers with value equality, for the columns of facts. The array is
 * owned.
 */
public final class Longs {
  public static final Longs EMPTY = new Longs(new long[0]);

  private final long[] values;

  private Longs(long[] values) {
    this.values = values;
  }

  public static Longs of(long... values) {
    return values.length == 0 ? EMPTY : new Longs(values);
  }

  public int size() {
    return values.length;
  }

  public long get(int index) {
    return values[index];
  }

  /** Copies {@code count} values from index {@code from} on. */
  void copyTo(int from, long[] target, int at, int count) {
    System.arraycopy(values, from, target, at, count);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Longs that && Arrays.equals(values, that.values);
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
