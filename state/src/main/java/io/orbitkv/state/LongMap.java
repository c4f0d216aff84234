package io.orbitkv.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A map from positive 64-bit ids to objects, without boxes and without an iteration order that
 * depends on history: the only iteration is by ascending id.
 */
final class LongMap<V> {
  private long[] keys = new long[16];
  private @Nullable Object[] values = new @Nullable Object[16];
  private int size;

  int size() {
    return size;
  }

  @Nullable V get(long key) {
    return value(find(key));
  }

  /** Adds an entry whose key is absent. */
  void put(long key, V value) {
    if (key == 0) {
      throw new IllegalArgumentException("0 is no id");
    }
    if ((size + 1) * 3 > keys.length * 2) {
      grow();
    }
    int at = find(key);
    if (keys[at] != 0) {
      throw new IllegalArgumentException(key + " is there already");
    }
    keys[at] = key;
    values[at] = value;
    size++;
  }

  @Nullable V remove(long key) {
    int mask = keys.length - 1;
    int hole = find(key);
    V removed = value(hole);
    if (removed == null) {
      return null;
    }
    size--;
    for (int at = (hole + 1) & mask; keys[at] != 0; at = (at + 1) & mask) {
      int home = home(keys[at]);
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        keys[hole] = keys[at];
        values[hole] = values[at];
        hole = at;
      }
    }
    keys[hole] = 0;
    values[hole] = null;
    return removed;
  }

  /** A copy of the values by ascending id. */
  List<V> inOrder() {
    long[] sorted = new long[size];
    int count = 0;
    for (long key : keys) {
      if (key != 0) {
        sorted[count++] = key;
      }
    }
    Arrays.sort(sorted);
    List<V> ordered = new ArrayList<>(size);
    for (long key : sorted) {
      V value = get(key);
      if (value != null) {
        ordered.add(value);
      }
    }
    return ordered;
  }

  @SuppressWarnings("unchecked") // only put() writes values, and it takes a V
  private @Nullable V value(int at) {
    return (V) values[at];
  }

  private int find(long key) {
    int mask = keys.length - 1;
    int at = home(key);
    while (keys[at] != 0 && keys[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private int home(long key) {
    return (int) Mix.mix(key) & (keys.length - 1);
  }

  private void grow() {
    long[] oldKeys = keys;
    @Nullable Object[] oldValues = values;
    keys = new long[oldKeys.length * 2];
    values = new @Nullable Object[oldValues.length * 2];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int at = find(oldKeys[i]);
        keys[at] = oldKeys[i];
        values[at] = oldValues[i];
      }
    }
  }
}
