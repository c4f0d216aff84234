package io.orbitkv.catalog.inventory;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Rows of many views in {@value #SEGMENTS} segments by fingerprint, each with its own lock, so that
 * growth, mass removal and lookups hold each other up for one small segment at most.
 *
 * <p>Generations of a key only grow: a seal or a removal of an older generation than the row's own
 * changes nothing.
 */
final class RowStore {
  /** A power of two. */
  static final int SEGMENTS = 64;

  private final RowSegment[] segments = new RowSegment[SEGMENTS];

  /**
   * Rows below these the sweep has not looked at, by segment; where it goes on; how many are left.
   */
  private final int[] sweepBelow = new int[SEGMENTS];

  private int sweepSegment;
  private int sweepLeft;

  RowStore() {
    for (int i = 0; i < SEGMENTS; i++) {
      segments[i] = new RowSegment();
    }
  }

  /** What {@link #find} shows; called with the segment locked, so it must be short. */
  interface Visitor {
    void row(int view, int tier, long generation, int lengthKib);
  }

  /** What {@link #forEach} shows; called with the segment locked. */
  interface RowVisitor {
    void row(long high, long low, int view, int tier, long generation, int lengthKib);
  }

  /** Adds a row or renews it; true when it is new. */
  boolean put(long high, long low, int view, int tier, long generation, int lengthKib) {
    RowSegment segment = segment(high);
    segment.lock.lock();
    try {
      int row = segment.find(high, low, view, tier);
      if (row < 0) {
        segment.add(high, low, view, tier, generation, lengthKib);
        return true;
      }
      if (segment.generation(row) <= generation) {
        segment.set(row, generation, lengthKib);
      }
      return false;
    } finally {
      segment.lock.unlock();
    }
  }

  /** Takes a row out; true when there was one of this generation or an older one. */
  boolean remove(long high, long low, int view, int tier, long generation) {
    RowSegment segment = segment(high);
    segment.lock.lock();
    try {
      int row = segment.find(high, low, view, tier);
      if (row < 0 || segment.generation(row) > generation) {
        return false;
      }
      segment.remove(row);
      return true;
    } finally {
      segment.lock.unlock();
    }
  }

  /** Shows every row of a fingerprint. */
  void find(long high, long low, Visitor visitor) {
    RowSegment segment = segment(high);
    segment.lock.lock();
    try {
      for (int row = segment.first(high, low); row >= 0; row = segment.following(row)) {
        visitor.row(
            segment.view(row), segment.tier(row), segment.generation(row), segment.lengthKib(row));
      }
    } finally {
      segment.lock.unlock();
    }
  }

  /** Shows every row, segment by segment. */
  void forEach(RowVisitor visitor) {
    for (RowSegment segment : segments) {
      segment.lock.lock();
      try {
        for (int row = 0; row < segment.count(); row++) {
          visitor.row(
              segment.high(row),
              segment.low(row),
              segment.view(row),
              segment.tier(row),
              segment.generation(row),
              segment.lengthKib(row));
        }
      } finally {
        segment.lock.unlock();
      }
    }
  }

  /** Makes {@link #sweep} look at everything again. */
  void restartSweep() {
    Arrays.fill(sweepBelow, Integer.MAX_VALUE);
    sweepLeft = SEGMENTS;
  }

  /**
   * Looks at some more rows of one segment and takes out those of dead views. One thread calls it.
   *
   * <p>Each call takes the next segment, so that who waits for a segment's lock gets it before the
   * sweep comes again. In a segment it goes down from the last row. A removal moves rows down only,
   * so a row that was not looked at stays below the mark.
   *
   * @param maxRows how many rows to look at
   * @return whether there is more to look at
   */
  boolean sweep(int maxRows, IntPredicate dead) {
    if (sweepLeft == 0) {
      return false;
    }
    do {
      sweepSegment = (sweepSegment + 1) % SEGMENTS;
    } while (sweepBelow[sweepSegment] == 0);
    RowSegment segment = segments[sweepSegment];
    segment.lock.lock();
    try {
      int row = Math.min(sweepBelow[sweepSegment], segment.count());
      int end = Math.max(0, row - maxRows);
      while (row > end) {
        row--;
        if (dead.test(segment.view(row))) {
          segment.remove(row);
        }
      }
      sweepBelow[sweepSegment] = row;
      sweepLeft -= row == 0 ? 1 : 0;
    } finally {
      segment.lock.unlock();
    }
    return sweepLeft > 0;
  }

  /** How many rows there are in all views. */
  long rows() {
    long rows = 0;
    for (RowSegment segment : segments) {
      segment.lock.lock();
      try {
        rows += segment.count();
      } finally {
        segment.lock.unlock();
      }
    }
    return rows;
  }

  /** Bytes of all arrays. */
  long bytes() {
    long bytes = 0;
    for (RowSegment segment : segments) {
      segment.lock.lock();
      try {
        bytes += segment.bytes();
      } finally {
        segment.lock.unlock();
      }
    }
    return bytes;
  }

  private RowSegment segment(long high) {
    return segments[(int) (high >>> 58)];
  }
}
