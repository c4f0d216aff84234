package io.orbitkv.state;

import java.util.Arrays;

/**
 * From a block id to its slot, in pages of 32 neighbouring ids.
 *
 * <pre>
 * pages    hash of (id / 32) -> page number     a {@link SlotIndex}
 * key      page number -> id / 32
 * used     page number -> how many of its ids there are
 * slot     page number * 32 + id % 32 -> slot + 1, 0 = no block; of a free page: the next free page + 1
 * </pre>
 *
 * <p>Ids are handed out in order and blocks of one prompt come and go together, so the next id
 * mostly lies in the page of the last one: no hash, no miss of the cache. The hash of all pages of
 * a million blocks is small enough to stay in the cache. A page that holds no block any more is
 * free.
 */
final class IdIndex {
  private static final int PAGE_BITS = 5;
  private static final int PAGE = 1 << PAGE_BITS;

  /**
   * Pages of one {@link Shelf}: it is never copied, so that growth stops its thread for nothing.
   */
  private static final int SHELF_BITS = 8;

  private static final int SHELF_MASK = (1 << SHELF_BITS) - 1;

  private static final class Shelf {
    final long[] key = new long[1 << SHELF_BITS];
    final byte[] used = new byte[1 << SHELF_BITS];
    final int[] slot = new int[PAGE << SHELF_BITS];
  }

  private final SlotIndex pages = new SlotIndex();
  private Shelf[] shelves = new Shelf[16];
  private int shelfCount;
  private int freePage = -1;

  private long lastKey = -1;
  private int lastPage = -1;
  private long size;

  /** The slot of the block, or -1. */
  int find(long id) {
    int page = page(id >>> PAGE_BITS);
    return page < 0 ? -1 : shelf(page).slot[at(page, id)] - 1;
  }

  /** Adds an id that is not there. */
  void insert(long id, int slot) {
    insert(id, slot, 1);
  }

  /** Adds neighbouring ids that are not there, of blocks in neighbouring slots. */
  void insert(long first, int firstSlot, int count) {
    for (int done = 0; done < count; ) {
      long id = first + done;
      int part = Math.min(count - done, PAGE - ((int) id & (PAGE - 1)));
      int page = pageToFill(id >>> PAGE_BITS);
      Shelf shelf = shelf(page);
      int from = at(page, id);
      for (int i = 0; i < part; i++) {
        shelf.slot[from + i] = firstSlot + done + i + 1;
      }
      shelf.used[page & SHELF_MASK] += (byte) part;
      done += part;
    }
    size += count;
  }

  private int pageToFill(long key) {
    int page = page(key);
    if (page < 0) {
      page = takePage();
      shelf(page).key[page & SHELF_MASK] = key;
      pages.insert(Mix.mix(key), page);
      lastKey = key;
      lastPage = page;
    }
    return page;
  }

  /** Removes an id that is there. */
  void remove(long id) {
    remove(id, 1);
  }

  /** Removes neighbouring ids that are there. */
  void remove(long first, int count) {
    for (int done = 0; done < count; ) {
      long id = first + done;
      int part = Math.min(count - done, PAGE - ((int) id & (PAGE - 1)));
      long key = id >>> PAGE_BITS;
      int page = page(key);
      Shelf shelf = shelf(page);
      int from = at(page, id);
      Arrays.fill(shelf.slot, from, from + part, 0);
      shelf.used[page & SHELF_MASK] -= (byte) part;
      if (shelf.used[page & SHELF_MASK] == 0) {
        pages.remove(Mix.mix(key), page);
        lastKey = -1;
        shelf.slot[at(page, 0)] = freePage + 1;
        freePage = page;
      }
      done += part;
    }
    size -= count;
  }

  long size() {
    return size;
  }

  /** The slots of all blocks by ascending id: only the pages must be sorted. */
  int[] slotsInOrder() {
    long[] keys = new long[(int) pages.size()];
    int count = 0;
    for (int page = 0; page < shelfCount << SHELF_BITS; page++) {
      if (shelf(page).used[page & SHELF_MASK] != 0) {
        keys[count++] = shelf(page).key[page & SHELF_MASK];
      }
    }
    Arrays.sort(keys);
    int[] slots = new int[(int) size];
    int at = 0;
    for (long key : keys) {
      int page = page(key);
      int[] shelf = shelf(page).slot;
      int first = at(page, 0);
      for (int i = first; i < first + PAGE; i++) {
        if (shelf[i] != 0) {
          slots[at++] = shelf[i] - 1;
        }
      }
    }
    return slots;
  }

  long heapBytes() {
    return pages.heapBytes() + shelfCount * (80L + (1L << SHELF_BITS) * (8 + 1 + 4 * PAGE));
  }

  private int page(long key) {
    if (key == lastKey) {
      return lastPage;
    }
    long hash = Mix.mix(key);
    for (int skip = 0; ; skip++) {
      int page = pages.find(hash, skip);
      if (page < 0) {
        return -1;
      }
      if (shelf(page).key[page & SHELF_MASK] == key) {
        lastKey = key;
        lastPage = page;
        return page;
      }
    }
  }

  private int takePage() {
    if (freePage < 0) {
      addShelf();
    }
    int page = freePage;
    int[] slots = shelf(page).slot;
    int from = at(page, 0);
    freePage = slots[from] - 1;
    slots[from] = 0;
    return page;
  }

  private void addShelf() {
    if (shelfCount == shelves.length) {
      shelves = Arrays.copyOf(shelves, shelves.length * 2);
    }
    Shelf shelf = new Shelf();
    int first = shelfCount << SHELF_BITS;
    shelves[shelfCount++] = shelf;
    for (int page = first + SHELF_MASK; page >= first; page--) {
      shelf.slot[at(page, 0)] = freePage + 1;
      freePage = page;
    }
  }

  private Shelf shelf(int page) {
    return shelves[page >>> SHELF_BITS];
  }

  private static int at(int page, long id) {
    return ((page & SHELF_MASK) << PAGE_BITS) | ((int) id & (PAGE - 1));
  }
}
