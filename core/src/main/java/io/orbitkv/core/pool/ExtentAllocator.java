package io.orbitkv.core.pool;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts extents of any size from one range of bytes, with free lists by size class.
 *
 * <p>This is the two-level segregated fit of Masmano, Ripoll, Crespo and Real (TLSF, 2004): the
 * first level is the power of two of a free run's size, the second cuts that octave in {@value
 * #SECOND_LEVELS} classes; two bitmaps find the smallest class that surely fits in constant time,
 * and a freed run joins its free neighbours at once. It differs from the paper in three ways:
 *
 * <ul>
 *   <li>Bookkeeping lies outside the pool, in arrays indexed by node, because the pool's bytes are
 *       written by copy engines and must never be trusted to describe themselves.
 *   <li>Before it goes to the next class it looks at the first {@value #OWN_CLASS_PROBES} runs of
 *       the request's own class. A pool that serves one extent size (one model) therefore never
 *       wastes a run: N extents fit in a pool of exactly N.
 *   <li>Every allocation carries a generation from one counter, so no (offset, generation) pair
 *       ever comes twice.
 * </ul>
 *
 * Waste inside an extent is below one granule; waste between extents is what {@link
 * #fragmentation()} reports. Owned by the manager loop; not thread-safe. Not final, so that the
 * simulator can plant books that lie.
 */
public class ExtentAllocator {
  /**
   * Every offset and size in a pool is a multiple of this. 2^31 granules of 512 B bound a pool at 1
   * TiB.
   */
  public static final int GRANULE_BYTES = 512;

  /** The same for a range that is read and written around the page cache: 8 TiB at most. */
  public static final int DIRECT_GRANULE_BYTES = 4096;

  private static final int SECOND_SHIFT = 4;
  private static final int SECOND_LEVELS = 1 << SECOND_SHIFT;
  private static final int FIRST_LEVELS = 31;
  private static final int OWN_CLASS_PROBES = 8;
  private static final int NONE = -1;

  private final long poolBytes;
  private final int granuleShift;
  private final int poolGranules;

  // One node per run of granules, free or used. Generations live with the slices, not here.
  private int[] start = new int[1024];
  private int[] length = new int[1024];
  private int[] physicalPrevious = new int[1024];
  private int[] physicalNext = new int[1024];
  private int[] freePrevious = new int[1024];

  /**
   * For a free run the next of its class, for a used run {@link #USED}, for a spare node the next
   * spare node.
   */
  private int[] freeNext = new int[1024];

  private static final int USED = -2;

  private int nodes;
  private int spareNodes = NONE;

  private final int[] classHead = new int[FIRST_LEVELS * SECOND_LEVELS];
  private int firstLevelBits;
  private final int[] secondLevelBits = new int[FIRST_LEVELS];

  private final IntToIntMap usedByStart = new IntToIntMap();
  private int usedExtents;
  private long freeGranules;
  private long nextGeneration;

  /**
   * @param poolBytes size of the range, at least one granule and at most 1 TiB; a rest below a
   *     granule is unused
   * @param firstGeneration generation of the first allocation, above every one the journal has seen
   */
  public ExtentAllocator(long poolBytes, long firstGeneration) {
    this(poolBytes, GRANULE_BYTES, firstGeneration);
  }

  /**
   * @param granuleBytes a power of two; every offset and size is a multiple of it
   */
  public ExtentAllocator(long poolBytes, int granuleBytes, long firstGeneration) {
    this.granuleShift = Integer.numberOfTrailingZeros(granuleBytes);
    if (poolBytes < granuleBytes || poolBytes >> granuleShift > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a pool holds 1 to 2^31 - 1 granules of %d bytes, not %d bytes"
              .formatted(granuleBytes, poolBytes));
    }
    this.poolBytes = poolBytes;
    this.poolGranules = (int) (poolBytes >> granuleShift);
    this.nextGeneration = firstGeneration;
    Arrays.fill(classHead, NONE);
    int all = newNode(0, poolGranules, NONE, NONE);
    freeGranules = poolGranules;
    link(all);
  }

  /**
   * The bytes that {@link #allocate} takes for a request, the request rounded up to the granule.
   */
  public static int allocatedBytes(int bytes) {
    return allocatedBytes(bytes, GRANULE_BYTES);
  }

  /** The same for another granule. */
  public static int allocatedBytes(int bytes, int granuleBytes) {
    return (bytes + granuleBytes - 1) & -granuleBytes;
  }

  public int granuleBytes() {
    return 1 << granuleShift;
  }

  /**
   * An extent of at least {@code bytes}, or null when no free run is long enough.
   *
   * @param bytes 1 to 2^31 - 512
   */
  public @Nullable Extent allocate(int bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("an extent holds at least one byte, not " + bytes);
    }
    int wanted = (int) (((long) bytes + granuleBytes() - 1) >>> granuleShift);
    int node = findFit(wanted);
    if (node == NONE) {
      return null;
    }
    unlink(node);
    int rest = length[node] - wanted;
    if (rest > 0) {
      link(split(node, wanted));
    }
    freeNext[node] = USED;
    usedByStart.put(start[node], node);
    usedExtents++;
    freeGranules -= wanted;
    return new Extent((long) start[node] << granuleShift, wanted << granuleShift, nextGeneration++);
  }

  /**
   * Takes extents that are in use from an earlier life into the books of a range of which nothing
   * is in use.
   *
   * @param places in order
   * @throws IllegalArgumentException if two overlap, or one is not in the range
   */
  void occupy(PlacesInOrder places) {
    if (usedExtents != 0) {
      throw new IllegalStateException(usedExtents + " extents are in use");
    }
    reserveNodes(runs(places));
    usedByStart.expect(places.count());
    int rest = 0;
    unlink(rest);
    for (int i = 0; i < places.count(); i++) {
      int first = (int) (places.offset(i) >> granuleShift);
      int wanted = places.bytes(i) >> granuleShift;
      if (wanted <= 0
          || rest == NONE
          || first < start[rest]
          || first > start[rest] + length[rest] - wanted) {
        throw new IllegalArgumentException(
            "extent [%d, +%d) overlaps another or is not in the range"
                .formatted(places.offset(i), places.bytes(i)));
      }
      if (first > start[rest]) {
        int gap = rest;
        rest = split(gap, first - start[gap]);
        link(gap);
      }
      int used = rest;
      rest = length[used] == wanted ? NONE : split(used, wanted);
      freeNext[used] = USED;
      usedByStart.put(start[used], used);
      usedExtents++;
      freeGranules -= wanted;
    }
    if (rest != NONE) {
      link(rest);
    }
  }

  /** How many runs there are, free ones between these extents and the rest among them. */
  private static int runs(PlacesInOrder places) {
    int runs = places.count() + 1;
    long end = 0;
    for (int i = 0; i < places.count(); i++) {
      runs += places.offset(i) == end ? 0 : 1;
      end = places.offset(i) + places.bytes(i);
    }
    return runs;
  }

  /** Cuts a run that is in no list; answers the node of what lies behind its first granules. */
  private int split(int node, int granules) {
    int after = physicalNext[node];
    int remainder = newNode(start[node] + granules, length[node] - granules, node, after);
    length[node] = granules;
    physicalNext[node] = remainder;
    if (after != NONE) {
      physicalPrevious[after] = remainder;
    }
    return remainder;
  }

  /**
   * Returns an extent's memory.
   *
   * @throws IllegalStateException if no extent of that size begins there: the books are wrong and
   *     the daemon must stop
   */
  public void free(long offset, int bytes) {
    int node = usedByStart.get((int) (offset >> granuleShift));
    if (node == NONE
        || (offset & (granuleBytes() - 1)) != 0
        || (long) length[node] << granuleShift != bytes) {
      throw new IllegalStateException(
          "no extent of " + bytes + " bytes is in use at offset " + offset);
    }
    usedByStart.remove(start[node]);
    usedExtents--;
    freeGranules += length[node];
    int before = physicalPrevious[node];
    if (before != NONE && freeNext[before] != USED) {
      unlink(before);
      node = join(before, node);
    }
    int after = physicalNext[node];
    if (after != NONE && freeNext[after] != USED) {
      unlink(after);
      node = join(node, after);
    }
    link(node);
  }

  public long poolBytes() {
    return poolBytes;
  }

  public long freeBytes() {
    return freeGranules << granuleShift;
  }

  public long usedBytes() {
    return ((long) poolGranules - freeGranules) << granuleShift;
  }

  public int usedExtents() {
    return usedExtents;
  }

  /** The largest request that {@link #allocate} can serve now, in bytes. */
  public long largestFreeBytes() {
    if (firstLevelBits == 0) {
      return 0;
    }
    int first = 31 - Integer.numberOfLeadingZeros(firstLevelBits);
    int second = 31 - Integer.numberOfLeadingZeros(secondLevelBits[first]);
    int largest = 0;
    for (int node = classHead[first * SECOND_LEVELS + second];
        node != NONE;
        node = freeNext[node]) {
      largest = Math.max(largest, length[node]);
    }
    return (long) largest << granuleShift;
  }

  /** The share of free memory that lies outside the largest free run, 0 to 1. */
  public double fragmentation() {
    return freeGranules == 0 ? 0 : 1 - (double) (largestFreeBytes() >> granuleShift) / freeGranules;
  }

  /** Heap held by the books, in bytes. */
  public long heapBytes() {
    return 6L * 4 * start.length + usedByStart.heapBytes() + 4L * classHead.length;
  }

  /**
   * Walks every run and throws if two overlap, a gap is lost, two free runs touch, or a count is
   * wrong.
   */
  public void check() {
    int node = 0;
    while (physicalPrevious[node] != NONE) {
      node = physicalPrevious[node];
    }
    long expectedStart = 0;
    long free = 0;
    int used = 0;
    boolean previousFree = false;
    for (; node != NONE; node = physicalNext[node]) {
      boolean isFree = freeNext[node] != USED;
      require(
          start[node] == expectedStart,
          "a run starts at " + start[node] + ", not " + expectedStart);
      require(!(isFree && previousFree), "two free runs touch at " + start[node]);
      require(
          isFree || usedByStart.get(start[node]) == node,
          "a used run at " + start[node] + " is not indexed");
      expectedStart += length[node];
      free += isFree ? length[node] : 0;
      used += isFree ? 0 : 1;
      previousFree = isFree;
    }
    require(
        expectedStart == poolGranules,
        "runs cover " + expectedStart + " of " + poolGranules + " granules");
    require(free == freeGranules, "free granules are " + free + ", not " + freeGranules);
    require(used == usedExtents, "used extents are " + used + ", not " + usedExtents);
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalStateException(message);
    }
  }

  private int findFit(int wanted) {
    int own = classOf(wanted);
    int probes = 0;
    for (int node = classHead[own];
        node != NONE && probes < OWN_CLASS_PROBES;
        node = freeNext[node]) {
      if (length[node] >= wanted) {
        return node;
      }
      probes++;
    }
    int next = own + 1;
    int first = next >>> SECOND_SHIFT;
    if (first >= FIRST_LEVELS) {
      return NONE;
    }
    int second = secondLevelBits[first] & (-1 << (next & (SECOND_LEVELS - 1)));
    if (second == 0) {
      int higher = first + 1 >= 32 ? 0 : firstLevelBits & (-1 << (first + 1));
      if (higher == 0) {
        return NONE;
      }
      first = Integer.numberOfTrailingZeros(higher);
      second = secondLevelBits[first];
    }
    return classHead[first * SECOND_LEVELS + Integer.numberOfTrailingZeros(second)];
  }

  /**
   * Sizes below {@value #SECOND_LEVELS} granules have a class each; above, an octave has that many
   * classes.
   */
  private static int classOf(int granules) {
    if (granules < SECOND_LEVELS) {
      return granules;
    }
    int octave = 31 - Integer.numberOfLeadingZeros(granules);
    int second = (granules >>> (octave - SECOND_SHIFT)) & (SECOND_LEVELS - 1);
    return (octave - SECOND_SHIFT + 1) * SECOND_LEVELS + second;
  }

  private void link(int node) {
    int size = classOf(length[node]);
    int head = classHead[size];
    freeNext[node] = head;
    freePrevious[node] = NONE;
    if (head != NONE) {
      freePrevious[head] = node;
    }
    classHead[size] = node;
    secondLevelBits[size >>> SECOND_SHIFT] |= 1 << (size & (SECOND_LEVELS - 1));
    firstLevelBits |= 1 << (size >>> SECOND_SHIFT);
  }

  private void unlink(int node) {
    int size = classOf(length[node]);
    int before = freePrevious[node];
    int after = freeNext[node];
    if (after != NONE) {
      freePrevious[after] = before;
    }
    if (before != NONE) {
      freeNext[before] = after;
      return;
    }
    classHead[size] = after;
    if (after == NONE) {
      int first = size >>> SECOND_SHIFT;
      secondLevelBits[first] &= ~(1 << (size & (SECOND_LEVELS - 1)));
      if (secondLevelBits[first] == 0) {
        firstLevelBits &= ~(1 << first);
      }
    }
  }

  private int join(int left, int right) {
    length[left] += length[right];
    int after = physicalNext[right];
    physicalNext[left] = after;
    if (after != NONE) {
      physicalPrevious[after] = left;
    }
    freeNext[right] = spareNodes;
    spareNodes = right;
    return left;
  }

  private int newNode(int startGranule, int granules, int before, int after) {
    int node = spareNodes;
    if (node != NONE) {
      spareNodes = freeNext[node];
    } else {
      node = nodes++;
      if (node == start.length) {
        reserveNodes(start.length * 3 / 2);
      }
    }
    start[node] = startGranule;
    length[node] = granules;
    physicalPrevious[node] = before;
    physicalNext[node] = after;
    return node;
  }

  private void reserveNodes(int room) {
    if (room > start.length) {
      start = Arrays.copyOf(start, room);
      length = Arrays.copyOf(length, room);
      physicalPrevious = Arrays.copyOf(physicalPrevious, room);
      physicalNext = Arrays.copyOf(physicalNext, room);
      freePrevious = Arrays.copyOf(freePrevious, room);
      freeNext = Arrays.copyOf(freeNext, room);
    }
  }
}
