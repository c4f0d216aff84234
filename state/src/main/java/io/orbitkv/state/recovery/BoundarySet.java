package io.orbitkv.state.recovery;

import java.util.Arrays;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Boundaries in ascending order, in tokens. Every rank computes its own set; the model can resume
 * only where all of them agree, so all legal boundaries are kept, not just the longest.
 */
public final class BoundarySet {

  private static final BoundarySet EMPTY = new BoundarySet(new int[0]);

  private final int[] boundaries;

  private BoundarySet(int[] boundaries) {
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
        : new BoundarySet(size == ascending.length ? ascending : Arrays.copyOf(ascending, size));
  }

  /** How many boundaries there are. */
  public int size() {
    return boundaries.length;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return boundaries.length == 0;
  }

  /** The boundary at {@code index}, ascending from 0. */
  public int get(int index) {
    return boundaries[index];
  }

  /** Whether {@code boundary} is in the set. */
  public boolean contains(int boundary) {
    return Arrays.binarySearch(boundaries, boundary) >= 0;
  }

  /** The longest restore. */
  public OptionalInt last() {
    return isEmpty() ? OptionalInt.empty() : OptionalInt.of(boundaries[boundaries.length - 1]);
  }

  /** The boundaries that are in both sets. */
  public BoundarySet intersect(BoundarySet other) {
    int[] common = new int[Math.min(size(), other.size())];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < size() && j < other.size()) {
      int order = Integer.compare(boundaries[i], other.boundaries[j]);
      if (order == 0) {
        common[size++] = boundaries[i];
      }
      i += order <= 0 ? 1 : 0;
      j += order >= 0 ? 1 : 0;
    }
    return ofTrusted(common, size);
  }

  /** A copy as an ascending array. */
  public int[] toArray() {
    return boundaries.clone();
  }

  /** The boundaries themselves, ascending, not a copy; read only. */
  public int[] packed() {
    return boundaries;
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof BoundarySet other && Arrays.equals(boundaries, other.boundaries);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(boundaries);
  }

  @Override
  public String toString() {
    return Arrays.toString(boundaries);
  }
}
