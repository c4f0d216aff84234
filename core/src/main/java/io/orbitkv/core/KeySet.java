package io.orbitkv.core;

import io.orbitkv.state.Keys;
import java.util.Arrays;

/**
 * Which keys of one list were seen, by their place in it: open addressing over the packed bytes.
 */
final class KeySet {
  private static final int FREE = -1;

  private final Keys keys;
  private final int[] places;

  KeySet(Keys keys) {
    this.keys = keys;
    this.places = new int[Integer.highestOneBit(Math.max(4, keys.size() * 2 - 1)) * 2];
    Arrays.fill(places, FREE);
  }

  /** Adds the key at {@code index}; false if an equal one was added before. */
  boolean add(int index) {
    byte[] packed = keys.packed();
    int length = keys.keyBytes();
    int from = keys.offset(index);
    int mask = places.length - 1;
    int at = hash(packed, from, length) & mask;
    while (places[at] != FREE) {
      int other = keys.offset(places[at]);
      if (Arrays.equals(packed, from, from + length, packed, other, other + length)) {
        return false;
      }
      at = (at + 1) & mask;
    }
    places[at] = index;
    return true;
  }

  private static int hash(byte[] packed, int from, int length) {
    int hash = 1;
    for (int i = from; i < from + length; i++) {
      hash = 31 * hash + packed[i];
    }
    return hash ^ (hash >>> 15);
  }
}
