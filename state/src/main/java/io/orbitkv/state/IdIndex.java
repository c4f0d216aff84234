package io.orbitkv.state;

import java.util.Arrays;

/**
 * From a block id to its slot, in pages of eight neighbouring ids.
 *
 * <pre>
 * pages    hash of (id / 8) -> page number     a {@link SlotIndex}
 * key      page number -> id / 8
 * slot     page number * 8 + id % 8 -> slot + 1, 0 = no block; of a free page: the next free page + 1
 * </pre>
 *
 * <p>Ids are handed out in order and blocks of one prompt come and go together, so the next id
 * mostly lies in the page of the last one: no hash, no miss of the cache. A page that holds no
 * block any more is free.
 */
final class IdIndex {
  private static final int PAGE_BITS = 3;
  private static final int PAGE = 1 << PAGE_BITS;

  /**
   * Pages of one {@link Shelf}: it is never copied, so that growth stops its thread for nothing.
   */
  private static final int SHELF_BITS = 10;

  private static final int SHELF_MASK = (1 << SHELF_BITS) - 1;

  private static final class Shelf {
    final long[] key = new long[1 << SHELF_BITS];
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
    long key = id >>> PAGE_BITS;
    int page = page(key);
    if (page < 0) {
      page = takePage();
      shelf(page).key[page & SHELF_MASK] = key;
      pages.insert(Mix.mix(key), page);
      lastKey = key;
      lastPage = page;
    }
    shelf(page).slot[at(page, id)] = slot + 1;
    size++;
  }

  /** Removes an id that is there. */
  void remove(long id) {
    long key = id >>> PAGE_BITS;
    int page = page(key);
    int[] slots = shelf(page).slot;
    slots[at(page, id)] = 0;
    size--;
    int from = at(page, 0);
    int rest = 0;
    for (int i = 0; i < PAGE; i++) {
      rest |= slots[from + i];
    }
    if (rest == 0) {
      pages.remove(Mix.mix(key), page);
      lastKey = -1;
      slots[from] = freePage + 1;
      freePage = page;
    }
  }

  long size() {
    return size;
  }

  long heapBytes() {
    return pages.heapBytes() + shelfCount * (64L + (1L << SHELF_BITS) * (8 + 4 * PAGE));
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
