package io.orbitkv.state;

/**
 * From a 64-bit hash to the slots that have it: open addressing with linear probing, cut into
 * segments.
 *
 * <pre>
 * hash   [ 8 bits segment ][ 24 bits unused ][ 32 bits tag ]
 * entry  [ 32 bits tag ][ 32 bits slot + 1 ]      0 = empty
 * home   tag * capacity / 2^32
 * </pre>
 *
 * <p>Why segments: a table of millions of entries that doubles stops its thread for tens of
 * milliseconds; 256 tables that grow by 30 % each on its own stop it for a hundredth of that. Why
 * the tag: growth and removal find every entry's home without touching the slots, and a lookup of
 * an absent key touches nothing but the table. Removal shifts later entries back, so no tombstones
 * gather.
 */
final class SlotIndex {
  private static final int SEGMENTS = 256;
  private static final int SEGMENT_SHIFT = 56;
  private static final int FIRST_CAPACITY = 8;

  /** The most hashes that {@link #candidates} takes. */
  static final int BATCH = 32;

  private final long[][] segments = new long[SEGMENTS][];
  private final int[] used = new int[SEGMENTS];
  private final long[] entries = new long[BATCH];

  private long capacity;

  SlotIndex() {
    for (int i = 0; i < SEGMENTS; i++) {
      segments[i] = new long[FIRST_CAPACITY];
    }
    capacity = (long) SEGMENTS * FIRST_CAPACITY;
  }

  /**
   * Makes room for so many entries at once, of an index that has none: growing there step by step
   * takes four times as long.
   */
  void expect(long entries) {
    if (size() > 0) {
      throw new IllegalStateException("the index has entries");
    }
    // Hashes spread unevenly: three deviations more than the share of a segment.
    double share = (double) entries / SEGMENTS;
    int room = (int) ((share + 3 * Math.sqrt(share)) * 3 / 2) + FIRST_CAPACITY;
    for (int i = 0; i < SEGMENTS; i++) {
      segments[i] = new long[room];
    }
    capacity = (long) SEGMENTS * room;
  }

  /**
   * The slot of the {@code skip}-th entry with this hash, or -1. The caller verifies that the slot
   * holds what it looks for and asks with {@code skip + 1} if not; within the 40 bits that are
   * compared that is rare.
   */
  int find(long hash, int skip) {
    long[] segment = segments[(int) (hash >>> SEGMENT_SHIFT)];
    int tag = (int) hash;
    int left = skip;
    int at = home(tag, segment.length);
    while (true) {
      long entry = segment[at];
      if (entry == 0) {
        return -1;
      }
      if ((int) (entry >>> 32) == tag && left-- == 0) {
        return (int) entry - 1;
      }
      at = next(at, segment.length);
    }
  }

  /**
   * The first slot of each hash from index {@code from} to {@code to}, or -1, as {@link #find} with
   * {@code skip} 0. The first probes of all hashes are read before any of them is looked at.
   */
  void candidates(long[] hashes, int from, int to, int[] slots) {
    for (int i = from; i < to; i++) {
      long[] segment = segments[(int) (hashes[i] >>> SEGMENT_SHIFT)];
      entries[i] = segment[home((int) hashes[i], segment.length)];
    }
    for (int i = from; i < to; i++) {
      long entry = entries[i];
      boolean first = (int) (entry >>> 32) == (int) hashes[i];
      slots[i] = entry == 0 ? -1 : first ? (int) entry - 1 : find(hashes[i], 0);
    }
  }

  /** Reads the first probe of each hash, all at once, so that calls soon after need not wait. */
  void touch(long[] hashes, int count) {
    for (int i = 0; i < count; i++) {
      long[] segment = segments[(int) (hashes[i] >>> SEGMENT_SHIFT)];
      entries[i] = segment[home((int) hashes[i], segment.length)];
    }
  }

  void insert(long hash, int slot) {
    place(segmentWithRoom(hash), ((long) (int) hash << 32) | (slot + 1));
  }

  /**
   * Inserts unless there is an entry with this hash already.
   *
   * @return -1 when inserted, else that entry's slot: the first that {@link #find} tells
   */
  int insertIfNew(long hash, int slot) {
    long[] segment = segmentWithRoom(hash);
    int tag = (int) hash;
    int at = home(tag, segment.length);
    for (long entry; (entry = segment[at]) != 0; at = next(at, segment.length)) {
      if ((int) (entry >>> 32) == tag) {
        used[(int) (hash >>> SEGMENT_SHIFT)]--;
        return (int) entry - 1;
      }
    }
    segment[at] = ((long) tag << 32) | (slot + 1);
    return -1;
  }

  /** Counts one more entry, for which the segment has room. */
  private long[] segmentWithRoom(long hash) {
    int number = (int) (hash >>> SEGMENT_SHIFT);
    long[] segment = segments[number];
    int count = ++used[number];
    return count * 3L > segment.length * 2L ? grow(number) : segment;
  }

  /** Removes the entries of neighbouring slots from {@code slot} on. */
  void remove(long[] hashes, int count, int slot) {
    for (int i = 0; i < count; i++) {
      remove(hashes[i], slot + i);
    }
  }

  /** Answers whether the entry was there. */
  boolean remove(long hash, int slot) {
    int number = (int) (hash >>> SEGMENT_SHIFT);
    long[] segment = segments[number];
    int length = segment.length;
    long wanted = ((long) (int) hash << 32) | (slot + 1);
    int hole = home((int) hash, length);
    while (segment[hole] != wanted) {
      if (segment[hole] == 0) {
        return false;
      }
      hole = next(hole, length);
    }
    used[number]--;
    for (int at = next(hole, length); segment[at] != 0; at = next(at, length)) {
      int home = home((int) (segment[at] >>> 32), length);
      if (distance(home, at, length) >= distance(hole, at, length)) {
        segment[hole] = segment[at];
        hole = at;
      }
    }
    segment[hole] = 0;
    return true;
  }

  long size() {
    long size = 0;
    for (int count : used) {
      size += count;
    }
    return size;
  }

  long heapBytes() {
    return capacity * Long.BYTES + SEGMENTS * (16L + 4 + 4) + 64;
  }

  private long[] grow(int number) {
    long[] old = segments[number];
    long[] grown = new long[old.length + old.length * 3 / 10 + FIRST_CAPACITY];
    for (long entry : old) {
      if (entry != 0) {
        place(grown, entry);
      }
    }
    capacity += grown.length - old.length;
    segments[number] = grown;
    return grown;
  }

  private static void place(long[] segment, long entry) {
    int at = home((int) (entry >>> 32), segment.length);
    while (segment[at] != 0) {
      at = next(at, segment.length);
    }
    segment[at] = entry;
  }

  private static int home(int tag, int length) {
    return (int) (((tag & 0xFFFFFFFFL) * length) >>> 32);
  }

  private static int next(int at, int length) {
    return at + 1 == length ? 0 : at + 1;
  }

  private static int distance(int from, int to, int length) {
    return to >= from ? to - from : to - from + length;
  }
}
