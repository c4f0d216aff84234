package io.orbitkv.state.recovery;

import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Boundaries in ascending order, in tokens. Every rank computes its own set; the model can resume
 * only where all of them agree, so all legal boundaries are kept, not just the longest.
 */
public final class BoundarySet {

  private static final BoundarySet EMPTY = new BoundarySet(0, 0, 0, null);

  private final int first;
  private final int step;
  private final int size;

  /** Null if the boundaries are {@code first, first + step, ...}, as of most tails. */
  private final int @Nullable [] boundaries;

  private BoundarySet(int first, int step, int size, int @Nullable [] boundaries) {
    this.first = first;
    this.step = step;
    this.size = size;
    this.boundaries = boundaries;
  }

  /** No boundary: nothing can be restored. */
  public static BoundarySet empty() {
    return EMPTY;
  }

  /**
   * A set of the given boundaries.
   *
   * @throws IllegalArgumentException when they are negative or not strictly ascending
   */
  public static BoundarySet of(int... ascending) {
    int previous = -1;
    for (int boundary : ascending) {
      if (boundary <= previous) {
        throw new IllegalArgumentException("boundary " + boundary + " after " + previous);
      }
      previous = boundary;
    }
    return ofTrusted(ascending.clone(), ascending.length);
  }

  /** The first {@code size} elements, strictly ascending, of an array that nobody writes again. */
  static BoundarySet ofTrusted(int[] ascending, int size) {
    return size == 0
        ? EMPTY
        : new BoundarySet(
            0, 0, size, size == ascending.length ? ascending : Arrays.copyOf(ascending, size));
  }

  /** {@code first, first + step, ...}: {@code count} of them. */
  static BoundarySet steps(int first, int step, int count) {
    return count == 0 ? EMPTY : new BoundarySet(first, step, count, null);
  }

  /** How many boundaries there are. */
  public int size() {
    return size;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** The boundary at {@code index}, ascending from 0. */
  public int get(int index) {
    if (boundaries != null) {
      return boundaries[index];
    }
    return first + Objects.checkIndex(index, size) * step;
  }

  /** Whether {@code boundary} is in the set. */
  public boolean contains(int boundary) {
    if (boundaries != null) {
      return Arrays.binarySearch(boundaries, boundary) >= 0;
    }
    int past = boundary - first;
    return size > 0 && past >= 0 && past % step == 0 && past / step < size;
  }

  /** The longest restore. */
  public OptionalInt last() {
    return isEmpty() ? OptionalInt.empty() : OptionalInt.of(get(size - 1));
  }

  /** The boundaries that are in both sets. */
  public BoundarySet intersect(BoundarySet other) {
    int[] common = new int[Math.min(size, other.size)];
    int count = 0;
    int i = 0;
    int j = 0;
    while (i < size && j < other.size) {
      int order = Integer.compare(get(i), other.get(j));
      if (order == 0) {
        common[count++] = get(i);
      }
      i += order <= 0 ? 1 : 0;
      j += order >= 0 ? 1 : 0;
    }
    return ofTrusted(common, count);
  }

  /** A copy as an ascending array. */
  public int[] toArray() {
    if (boundaries != null) {
      return boundaries.clone();
    }
    int[] all = new int[size];
    for (int i = 0; i < size; i++) {
      all[i] = first + i * step;
    }
    return all;
  }

  /** The boundaries themselves, ascending, not a copy; null if they are at equal steps. */
  public int @Nullable [] packed() {
    return boundaries;
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof BoundarySet other
        && size == other.size
        && Arrays.equals(toArray(), other.toArray());
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(toArray());
  }

  @Override
  public String toString() {
    return Arrays.toString(toArray());
  }
}
