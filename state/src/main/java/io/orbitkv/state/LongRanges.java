package io.orbitkv.state;

import java.util.Arrays;

/**
 * An immutable, ordered list of half-open runs of 64-bit ids.
 *
 * <p>Block ids are handed out sequentially, so the blocks of one prompt are a few runs: a lease of
 * 2,048 blocks published together is one pair of numbers. Order is meaningful (it is the order of
 * the request) and runs may therefore be neither sorted nor merged with an earlier one; an id
 * appears at most once.
 */
public final class LongRanges {
  public static final LongRanges EMPTY = new LongRanges(new long[0], 0);

  /** Pairs of (first, count). */
  private final long[] pairs;

  private final int size;

  private LongRanges(long[] pairs, int size) {
    this.pairs = pairs;
    this.size = size;
  }

  public static LongRanges of(long first, int count) {
    if (count <= 0) {
      throw new IllegalArgumentException("a run holds at least one id: " + count);
    }
    return new LongRanges(new long[] {first, count}, count);
  }

  /** How many ids all runs hold. */
  public int size() {
    return size;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public int runs() {
    return pairs.length / 2;
  }

  public long first(int run) {
    return pairs[2 * run];
  }

  public int count(int run) {
    return (int) pairs[2 * run + 1];
  }

  /**
   * The id at a position of the whole list, {@code 0 <= ordinal < size()}. Linear in the number of
   * runs.
   */
  public long idAt(int ordinal) {
    int left = ordinal;
    for (int run = 0; run < runs(); run++) {
      if (left < count(run)) {
        return first(run) + left;
      }
      left -= count(run);
    }
    throw new IndexOutOfBoundsException("ordinal " + ordinal + " of " + size);
  }

  /** The ids from {@code from} (inclusive) to {@code to} (exclusive), by position. */
  public LongRanges slice(int from, int to) {
    if (from < 0 || to < from || to > size) {
      throw new IndexOutOfBoundsException("[" + from + "," + to + ") of " + size);
    }
    Builder slice = new Builder();
    int skip = from;
    int left = to - from;
    for (int run = 0; run < runs() && left > 0; run++) {
      int count = count(run);
      if (skip >= count) {
        skip -= count;
        continue;
      }
      int take = Math.min(left, count - skip);
      slice.addRun(first(run) + skip, take);
      skip = 0;
      left -= take;
    }
    return slice.build();
  }

  public void forEach(LongVisitor visitor) {
    for (int run = 0; run < runs(); run++) {
      long end = first(run) + count(run);
      for (long id = first(run); id < end; id++) {
        visitor.visit(id);
      }
    }
  }

  public boolean contains(long id) {
    for (int run = 0; run < runs(); run++) {
      if (id >= first(run) && id < first(run) + count(run)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LongRanges that && Arrays.equals(pairs, that.pairs);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(pairs);
  }

  /** {@code 5, 9..12} : inclusive ends, as a person reads them. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int run = 0; run < runs(); run++) {
      if (run > 0) {
        text.append(", ");
      }
      text.append(first(run));
      if (count(run) > 1) {
        text.append("..").append(first(run) + count(run) - 1);
      }
    }
    return text.toString();
  }

  /** Receives one id. */
  @FunctionalInterface
  public interface LongVisitor {
    void visit(long id);
  }

  /** Collects ids in order and joins neighbours into runs. */
  public static final class Builder {
    private long[] pairs = new long[8];
    private int used;
    private int size;

    public Builder add(long id) {
      return addRun(id, 1);
    }

    public Builder addRun(long first, int count) {
      if (count <= 0) {
        throw new IllegalArgumentException("a run holds at least one id: " + count);
      }
      size = Math.addExact(size, count);
      if (used > 0 && pairs[used - 2] + pairs[used - 1] == first) {
        pairs[used - 1] += count;
        return this;
      }
      if (used == pairs.length) {
        pairs = Arrays.copyOf(pairs, pairs.length * 2);
      }
      pairs[used++] = first;
      pairs[used++] = count;
      return this;
    }

    public int size() {
      return size;
    }

    public LongRanges build() {
      return used == 0 ? EMPTY : new LongRanges(Arrays.copyOf(pairs, used), size);
    }
  }
}
