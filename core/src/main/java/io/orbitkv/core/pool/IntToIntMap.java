package io.orbitkv.core.pool;

import java.util.Arrays;

/**
 * Open addressing with linear probing and backward-shift deletion; keys and values are
 * non-negative.
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

  void put(int key, int value) {
    if (size >= keys.length / 4 * 3) {
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
    int mask = keys.length - 1;
    int at = hole;
    while (true) {
      at = (at + 1) & mask;
      if (keys[at] == ABSENT) {
        break;
      }
      int home = mix(keys[at]) & mask;
      if (((at - home) & mask) >= ((at - hole) & mask)) {
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
    int mask = keys.length - 1;
    int at = mix(key) & mask;
    while (keys[at] != ABSENT && keys[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    int[] oldKeys = keys;
    int[] oldValues = values;
    keys = new int[oldKeys.length * 2];
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
    int h = key * 0x9E3779B9;
    return h ^ (h >>> 15);
  }
}
