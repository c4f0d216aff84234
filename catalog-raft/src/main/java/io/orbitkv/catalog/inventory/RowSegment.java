package io.orbitkv.catalog.inventory;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One of the parts of a {@link RowStore}: rows in dense columns, found through chains from a power
 * of two of heads. A row is 35 bytes in the columns; columns grow by an eighth, and there are half
 * as many to as many heads as rows, so a full segment has 37 to 43 bytes a row. Every method is
 * called with {@link #lock} held.
 */
final class RowSegment {
  private static final int FIRST_ROWS = 16;
  private static final int NONE = -1;

  final ReentrantLock lock = new ReentrantLock();

  private long[] high = new long[0];
  private long[] low = new long[0];
  private long[] generation = new long[0];
  private int[] lengthKib = new int[0];
  private int[] next = new int[0];
  private short[] view = new short[0];
  private byte[] tier = new byte[0];
  private int[] heads = newHeads(8);
  private int count;

  int count() {
    return count;
  }

  /** Bytes of the columns and heads, without object headers. */
  long bytes() {
    return 35L * high.length + 4L * heads.length;
  }

  /** The row of a fingerprint, view and tier, or -1. */
  int find(long fpHigh, long fpLow, int rowView, int rowTier) {
    int row = heads[head(fpLow)];
    while (row != NONE && !is(row, fpHigh, fpLow, rowView, rowTier)) {
      row = next[row];
    }
    return row;
  }

  /** The first row of a fingerprint in any view, or -1. */
  int first(long fpHigh, long fpLow) {
    return from(heads[head(fpLow)], fpHigh, fpLow);
  }

  /** The row of the same fingerprint behind {@code row}, or -1. */
  int following(int row) {
    return from(next[row], high[row], low[row]);
  }

  private int from(int start, long fpHigh, long fpLow) {
    int row = start;
    while (row != NONE && (high[row] != fpHigh || low[row] != fpLow)) {
      row = next[row];
    }
    return row;
  }

  private boolean is(int row, long fpHigh, long fpLow, int rowView, int rowTier) {
    return high[row] == fpHigh && low[row] == fpLow && view[row] == rowView && tier[row] == rowTier;
  }

  void add(long fpHigh, long fpLow, int rowView, int rowTier, long rowGeneration, int kib) {
    if (count == high.length) {
      resize(Math.max(FIRST_ROWS, count + (count >>> 3) + 1));
    }
    if (count >= heads.length * 2) {
      rehash(heads.length * 2);
    }
    int row = count++;
    high[row] = fpHigh;
    low[row] = fpLow;
    view[row] = (short) rowView;
    tier[row] = (byte) rowTier;
    set(row, rowGeneration, kib);
    link(row);
  }

  void set(int row, long rowGeneration, int kib) {
    generation[row] = rowGeneration;
    lengthKib[row] = kib;
  }

  /** Takes a row out; the last one takes its place. */
  void remove(int row) {
    unlink(row);
    int last = --count;
    if (row != last) {
      unlink(last);
      high[row] = high[last];
      low[row] = low[last];
      generation[row] = generation[last];
      lengthKib[row] = lengthKib[last];
      view[row] = view[last];
      tier[row] = tier[last];
      link(row);
    }
    if (count < high.length / 4 && high.length > FIRST_ROWS) {
      resize(Math.max(FIRST_ROWS, count + (count >>> 3) + 1));
      rehash(Math.max(8, Integer.highestOneBit(Math.max(1, count))));
    }
  }

  long high(int row) {
    return high[row];
  }

  long low(int row) {
    return low[row];
  }

  long generation(int row) {
    return generation[row];
  }

  int lengthKib(int row) {
    return lengthKib[row];
  }

  int view(int row) {
    return view[row];
  }

  int tier(int row) {
    return tier[row];
  }

  private void resize(int rows) {
    high = Arrays.copyOf(high, rows);
    low = Arrays.copyOf(low, rows);
    generation = Arrays.copyOf(generation, rows);
    lengthKib = Arrays.copyOf(lengthKib, rows);
    next = Arrays.copyOf(next, rows);
    view = Arrays.copyOf(view, rows);
    tier = Arrays.copyOf(tier, rows);
  }

  private void rehash(int size) {
    heads = newHeads(size);
    for (int row = 0; row < count; row++) {
      link(row);
    }
  }

  private void link(int row) {
    int head = head(low[row]);
    next[row] = heads[head];
    heads[head] = row;
  }

  private void unlink(int row) {
    int head = head(low[row]);
    if (heads[head] == row) {
      heads[head] = next[row];
      return;
    }
    int before = heads[head];
    while (next[before] != row) {
      before = next[before];
    }
    next[before] = next[row];
  }

  /** The fingerprint is a hash already; its high half chose the segment. */
  private int head(long fpLow) {
    return (int) fpLow & (heads.length - 1);
  }

  private static int[] newHeads(int size) {
    int[] heads = new int[size];
    Arrays.fill(heads, NONE);
    return heads;
  }
}
