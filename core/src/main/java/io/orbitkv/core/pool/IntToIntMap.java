package io.orbitkv.core.pool;

import java.util.Arrays;

/**
 * Open addressing with linear probing and backward-shift deletion; keys and values are
 * non-negative. It grows by a quarter, because what doubling leaves empty is memory of every block.
 */
final class IntToIntMap {
  private static final int ABSENT = -1;

  private int[] keys;
  private int[] values;
  private int size;

  IntToIntMap() {
    keys = new int[64];
    Arrays.fill(keys, ABSENT);
    values = new int[64];
  }

  /** Makes room for so many entries, of a map that has none. */
  void expect(int entries) {
    if (size > 0) {
      throw new IllegalStateException(size + " entries are there");
    }
    keys = new int[(int) Math.max(64, entries / 4L * 5 + 8)];
    Arrays.fill(keys, ABSENT);
    values = new int[keys.length];
  }

  void put(int key, int value) {
    if (size >= keys.length / 5 * 4) {
      grow();
    }
    int at = slot(key);
    if (keys[at] == ABSENT) {
      keys[at] = key;
      size++;
    }
    values[at] = value;
  }

  /** The value of a key, -1 if there is none. */
  int get(int key) {
    int at = slot(key);
    return keys[at] == ABSENT ? ABSENT : values[at];
  }

  void remove(int key) {
    int hole = slot(key);
    if (keys[hole] == ABSENT) {
      return;
    }
    size--;
    for (int at = next(hole); keys[at] != ABSENT; at = next(at)) {
      if (distance(home(keys[at]), at) >= distance(hole, at)) {
        keys[hole] = keys[at];
        values[hole] = values[at];
        hole = at;
      }
    }
    keys[hole] = ABSENT;
  }

  long heapBytes() {
    return 8L * keys.length;
  }

  private int slot(int key) {
    int at = home(key);
    while (keys[at] != ABSENT && keys[at] != key) {
      at = next(at);
    }
    return at;
  }

  private int home(int key) {
    return (int) (((mix(key) & 0xFFFFFFFFL) * keys.length) >>> 32);
  }

  private int next(int at) {
    return at + 1 == keys.length ? 0 : at + 1;
  }

  private int distance(int from, int to) {
    return to >= from ? to - from : to - from + keys.length;
  }

  private void grow() {
    int[] oldKeys = keys;
    int[] oldValues = values;
    keys = new int[oldKeys.length + oldKeys.length / 4];
    Arrays.fill(keys, ABSENT);
    values = new int[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != ABSENT) {
        int at = slot(oldKeys[i]);
        keys[at] = oldKeys[i];
        values[at] = oldValues[i];
      }
    }
  }

  private static int mix(int key) {
    int h = (key ^ (key >>> 15)) * 0x9E3779B9;
    return (h ^ (h >>> 15)) * 0x85EBCA6B;
  }
}
