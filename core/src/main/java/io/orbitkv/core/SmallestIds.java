package io.orbitkv.core;

import java.util.Arrays;
import java.util.PriorityQueue;

/** Keeps the smallest of many ids, for a page of a list that is in no order. */
final class SmallestIds {
  private final int most;
  private final PriorityQueue<Long> largestFirst =
      new PriorityQueue<>((a, b) -> Long.compare(b, a));

  SmallestIds(int most) {
    this.most = most;
  }

  void offer(long id) {
    if (largestFirst.size() < most) {
      largestFirst.add(id);
    } else if (id < largestFirst.element()) {
      largestFirst.remove();
      largestFirst.add(id);
    }
  }

  long[] ascending() {
    long[] ids = new long[largestFirst.size()];
    int at = 0;
    for (long id : largestFirst) {
      ids[at++] = id;
    }
    Arrays.sort(ids);
    return ids;
  }
}
