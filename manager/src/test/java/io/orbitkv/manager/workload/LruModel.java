package io.orbitkv.manager.workload;

import java.util.LinkedHashSet;

/**
 * What an LRU cache of so many blocks hits, counted without the product: the leading resident run
 * is the hit and is touched in order, then every missing block is published in order.
 */
public final class LruModel {
  private final LinkedHashSet<Long> resident = new LinkedHashSet<>();
  private final int capacityBlocks;
  private long hits;
  private long evictions;

  public LruModel(int capacityBlocks) {
    this.capacityBlocks = capacityBlocks;
  }

  /** The blocks hit by a request. */
  public int play(TraceRequest request) {
    int hit = 0;
    while (hit < request.blockCount() && resident.contains(request.block(hit))) {
      hit++;
    }
    for (int i = 0; i < request.blockCount(); i++) {
      long block = request.block(i);
      resident.remove(block);
      resident.add(block);
      if (i >= hit && resident.size() > capacityBlocks) {
        resident.removeFirst();
        evictions++;
      }
    }
    hits += hit;
    return hit;
  }

  public long play(Trace trace) {
    trace.requests().forEach(this::play);
    return hits;
  }

  public long hits() {
    return hits;
  }

  public long evictions() {
    return evictions;
  }
}
