package io.orbitkv.core.pool;

import java.util.Arrays;

/**
 * Extents that are in use from an earlier life, put in the order in which they lie for {@link
 * ExtentAllocator#occupy}: a number for each, because a million objects take a second to sort.
 */
public final class PlacesInOrder {
  private static final int LENGTH_BITS = 24;

  private final int granuleBytes;

  /** Granules of the offset, and behind them those of the length. */
  private final long[] places;

  private int count;

  /**
   * @param most how many will be added
   * @param granuleBytes a power of two that every offset and length is a multiple of
   */
  public PlacesInOrder(int most, int granuleBytes) {
    this.granuleBytes = granuleBytes;
    this.places = new long[most];
  }

  /**
   * Adds one.
   *
   * @throws IllegalArgumentException if it is not cut by granules, or too long
   */
  public void add(long offset, int bytes) {
    long length = bytes / granuleBytes;
    if (offset % granuleBytes != 0 || bytes % granuleBytes != 0 || length >> LENGTH_BITS != 0) {
      throw new IllegalArgumentException(
          "extent [%d, +%d) is not cut by %d bytes".formatted(offset, bytes, granuleBytes));
    }
    places[count++] = ((offset / granuleBytes) << LENGTH_BITS) | length;
  }

  /** Takes all that were added into fresh books. */
  public void occupy(ExtentAllocator books) {
    Arrays.sort(places, 0, count);
    books.occupy(this);
  }

  /** Receives an extent. */
  @FunctionalInterface
  public interface Visitor {
    void visit(long offset, int bytes);
  }

  /** Visits all. */
  public void forEach(Visitor visitor) {
    for (int i = 0; i < count; i++) {
      visitor.visit(offset(i), bytes(i));
    }
  }

  int count() {
    return count;
  }

  long offset(int i) {
    return (places[i] >>> LENGTH_BITS) * granuleBytes;
  }

  int bytes(int i) {
    return (int) (places[i] & ((1 << LENGTH_BITS) - 1)) * granuleBytes;
  }
}
