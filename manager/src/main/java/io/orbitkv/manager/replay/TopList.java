package io.orbitkv.manager.replay;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Requests by what they asked for. It holds a bounded number of names: when there are more, the
 * half that asked for least is forgotten, so a name with little early and much later may be a
 * little short.
 */
final class TopList {
  private static final int MAX_NAMES = 20_000;

  /** What one name asked for and got. */
  static final class Entry {
    final String name;
    long askedBlocks;
    long hitBlocks;
    long restoredBytes;
    long publishedBytes;

    private Entry(String name) {
      this.name = name;
    }

    long missedBlocks() {
      return askedBlocks - hitBlocks;
    }

    private long weight() {
      return askedBlocks + ((restoredBytes + publishedBytes) >> 16);
    }
  }

  private final Map<String, Entry> entries = new HashMap<>();
  private boolean forgot;

  Entry of(String name) {
    Entry known = entries.get(name);
    if (known != null) {
      return known;
    }
    if (entries.size() >= MAX_NAMES) {
      forgetHalf();
    }
    Entry entry = new Entry(name);
    entries.put(name, entry);
    return entry;
  }

  private void forgetHalf() {
    forgot = true;
    List<Entry> all = new ArrayList<>(entries.values());
    all.sort(Comparator.comparingLong(Entry::weight).thenComparing(entry -> entry.name));
    all.subList(0, all.size() / 2).forEach(entry -> entries.remove(entry.name));
  }

  /** Whether there were more names than could be held. */
  boolean approximate() {
    return forgot;
  }

  List<Entry> top(int most, ToLongFunction<Entry> by) {
    return entries.values().stream()
        .filter(entry -> by.applyAsLong(entry) > 0)
        .sorted(
            Comparator.comparingLong((Entry entry) -> -by.applyAsLong(entry))
                .thenComparing(entry -> entry.name))
        .limit(most)
        .toList();
  }
}
