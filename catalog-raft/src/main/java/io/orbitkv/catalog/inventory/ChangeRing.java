package io.orbitkv.catalog.inventory;

import java.util.Arrays;
import java.util.Optional;

/**
 * The latest changes of one catalog shard with their positions, in columns that grow to a bound and
 * then forget the oldest. Guarded by its owner.
 */
final class ChangeRing {
  private static final int FIRST = 64;

  private final int bound;
  private long[] position = new long[0];
  private long[] high = new long[0];
  private long[] low = new long[0];
  private long[] generation = new long[0];
  private int[] lengthKib = new int[0];
  private byte[] kind = new byte[0];
  private int first;
  private int count;

  /** Changes at or before this position are not held. */
  private long forgotten;

  /**
   * A ring of at most {@code bound} changes, a power of two, that knows nothing before a position.
   */
  ChangeRing(int bound, long forgotten) {
    this.bound = bound;
    this.forgotten = forgotten;
  }

  void add(
      long at, long fpHigh, long fpLow, long rowGeneration, int kib, int tier, boolean removal) {
    if (count == position.length) {
      if (count < bound) {
        grow();
      } else {
        forgotten = position[first];
        first = (first + 1) & (position.length - 1);
        count--;
      }
    }
    int slot = (first + count++) & (position.length - 1);
    position[slot] = at;
    high[slot] = fpHigh;
    low[slot] = fpLow;
    generation[slot] = rowGeneration;
    lengthKib[slot] = kib;
    kind[slot] = (byte) (removal ? tier | 0x80 : tier);
  }

  /** See {@link InventorySource#changesAfter}; {@code through} is the position of the source. */
  Optional<InventoryFrame.Changes> after(long after, long through, int maxRows) {
    if (after < forgotten || after > through) {
      return Optional.empty();
    }
    int index = firstAfter(after);
    RowBatch.Builder rows = new RowBatch.Builder(Math.min(maxRows, count - index));
    long last = after;
    while (index < count) {
      int slot = (first + index) & (position.length - 1);
      long at = position[slot];
      if (at - after > 0xFFFF_FFFFL || (rows.size() >= maxRows && at != last)) {
        return Optional.of(new InventoryFrame.Changes(after, at - 1, rows.build()));
      }
      int code = kind[slot] & 0xFF;
      rows.add(
          high[slot],
          low[slot],
          generation[slot],
          lengthKib[slot],
          at - after,
          code & 0x7F,
          code >= 0x80);
      last = at;
      index++;
    }
    return Optional.of(new InventoryFrame.Changes(after, through, rows.build()));
  }

  /**
   * The index of the first change behind a position: positions grow, so it is searched in halves.
   */
  private int firstAfter(long after) {
    int from = 0;
    int to = count;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (position[(first + middle) & (position.length - 1)] > after) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }

  private void grow() {
    int size = position.length == 0 ? Math.min(FIRST, bound) : position.length * 2;
    // Only a ring that has never been full grows, so its first change is in slot 0.
    position = Arrays.copyOf(position, size);
    high = Arrays.copyOf(high, size);
    low = Arrays.copyOf(low, size);
    generation = Arrays.copyOf(generation, size);
    lengthKib = Arrays.copyOf(lengthKib, size);
    kind = Arrays.copyOf(kind, size);
  }
}
