package io.orbitkv.core.eviction;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Blocks in two lists, each ordered by last use. All come into the <em>window</em>; one that
 * reaches its cold end, but was seen at least {@value #PROVEN} times lately, goes on to the
 * <em>main</em> region instead of leaving. A small window keeps long what has proved itself; a
 * window of everything is plain LRU.
 *
 * <p>The lists run through arrays indexed by slot: 13 bytes a block with its key's hash.
 */
final class TwoRegions {
  /** The share of a window that leaves nothing to the main region. */
  static final double WHOLE = 1.0;

  private static final int PROVEN = 2;

  /** The most blocks that go on to the main region while one victim is looked for. */
  private static final int MAX_PROMOTIONS = 64;

  private static final int END = -1;
  private static final byte ABSENT = 0;
  private static final byte WINDOW = 1;
  private static final byte MAIN = 2;

  private final FrequencySketch sketch;
  private double windowShare;

  /** Blocks after the last one came: what the window's share is a share of. */
  private int fullSize;

  /** Towards the cold end. */
  private int[] colder;

  private int[] hotter;
  private int[] keyHashes;
  private byte[] region;

  private final int[] coldest = {END, END, END};
  private final int[] hottest = {END, END, END};
  private final int[] sizes = new int[3];

  TwoRegions(FrequencySketch sketch, double windowShare, int slots) {
    this.sketch = sketch;
    this.windowShare = windowShare;
    this.colder = new int[slots];
    this.hotter = new int[slots];
    this.keyHashes = new int[slots];
    this.region = new byte[slots];
  }

  double windowShare() {
    return windowShare;
  }

  /** The window's part of all blocks, up to {@link #WHOLE}; takes effect as victims are taken. */
  void windowShare(double share) {
    windowShare = share;
  }

  int size() {
    return sizes[WINDOW] + sizes[MAIN];
  }

  boolean holds(int slot) {
    return slot < region.length && region[slot] != ABSENT;
  }

  int keyHash(int slot) {
    return keyHashes[slot];
  }

  void enter(int slot, int keyHash) {
    admit(slot, keyHash);
    linkHottest(slot, WINDOW);
    fullSize = size();
  }

  /** Enters at the window's cold end. */
  void enterColdest(int slot, int keyHash) {
    admit(slot, keyHash);
    region[slot] = WINDOW;
    colder[slot] = END;
    hotter[slot] = coldest[WINDOW];
    if (coldest[WINDOW] == END) {
      hottest[WINDOW] = slot;
    } else {
      colder[coldest[WINDOW]] = slot;
    }
    coldest[WINDOW] = slot;
    sizes[WINDOW]++;
  }

  void touch(int slot) {
    byte to = windowShare < WHOLE ? region[slot] : WINDOW;
    unlink(slot);
    linkHottest(slot, to);
  }

  void remove(int slot) {
    unlink(slot);
    region[slot] = ABSENT;
  }

  /** Takes a victim out; -1 if none may go. */
  int takeVictim(IntPredicate mayGo) {
    int windowTarget = (int) Math.ceil(windowShare * fullSize);
    int fromWindow = coldest[WINDOW];
    int fromMain = coldest[MAIN];
    int promotions = 0;
    while (fromWindow != END || fromMain != END) {
      boolean windowIsOver = sizes[WINDOW] >= windowTarget && promotions < MAX_PROMOTIONS;
      int slot;
      if (fromWindow != END && (windowIsOver || fromMain == END)) {
        slot = fromWindow;
        fromWindow = hotter[slot];
        if (promotions < MAX_PROMOTIONS && outlivesTheWindow(slot)) {
          promotions++;
          unlink(slot);
          linkHottest(slot, MAIN);
          fromMain = fromMain == END ? slot : fromMain;
          continue;
        }
      } else {
        slot = fromMain;
        fromMain = hotter[slot];
      }
      if (mayGo.test(slot)) {
        remove(slot);
        return slot;
      }
    }
    return -1;
  }

  private boolean outlivesTheWindow(int slot) {
    return windowShare < WHOLE && sketch.frequency(keyHashes[slot]) >= PROVEN;
  }

  private void admit(int slot, int keyHash) {
    int old = region.length;
    if (slot >= old) {
      int grown = Math.max(slot + 1, old * 3 / 2);
      colder = Arrays.copyOf(colder, grown);
      hotter = Arrays.copyOf(hotter, grown);
      keyHashes = Arrays.copyOf(keyHashes, grown);
      region = Arrays.copyOf(region, grown);
    }
    if (region[slot] != ABSENT) {
      throw new IllegalStateException("slot " + slot + " is in the policy already");
    }
    keyHashes[slot] = keyHash;
  }

  private void linkHottest(int slot, byte to) {
    region[slot] = to;
    colder[slot] = hottest[to];
    hotter[slot] = END;
    if (hottest[to] == END) {
      coldest[to] = slot;
    } else {
      hotter[hottest[to]] = slot;
    }
    hottest[to] = slot;
    sizes[to]++;
  }

  private void unlink(int slot) {
    byte from = region[slot];
    int below = colder[slot];
    int above = hotter[slot];
    if (below == END) {
      coldest[from] = above;
    } else {
      hotter[below] = above;
    }
    if (above == END) {
      hottest[from] = below;
    } else {
      colder[above] = below;
    }
    sizes[from]--;
  }
}
