package io.orbitkv.manager.workload;

import io.orbitkv.core.eviction.EvictionPolicy;
import java.util.Arrays;
import org.agrona.collections.Long2LongHashMap;

/**
 * What a cache of so many blocks hits under a policy, without the rest of the product: the leading
 * resident run is the hit and is touched in order, victims are taken for all that is missing, then
 * that enters in order.
 */
final class PolicyModel {
  private static final long ABSENT = -1;

  private final EvictionPolicy policy;
  private final Long2LongHashMap slotByBlock = new Long2LongHashMap(ABSENT);
  private final long[] blockBySlot;
  private final int[] freeSlots;
  private int free;

  PolicyModel(int capacityBlocks, EvictionPolicy policy) {
    this.policy = policy;
    this.blockBySlot = new long[capacityBlocks];
    this.freeSlots = new int[capacityBlocks];
    Arrays.setAll(freeSlots, i -> capacityBlocks - 1 - i);
    this.free = capacityBlocks;
  }

  long play(Trace trace) {
    long hits = 0;
    for (TraceRequest request : trace.requests()) {
      hits += play(request);
    }
    return hits;
  }

  private int play(TraceRequest request) {
    int hit = 0;
    while (hit < request.blockCount() && slotByBlock.containsKey(request.block(hit))) {
      policy.touched((int) slotByBlock.get(request.block(hit++)));
    }
    int[] slots = new int[request.blockCount()];
    for (int i = hit; i < request.blockCount(); i++) {
      slots[i] = (int) slotByBlock.get(request.block(i));
      if (slots[i] >= 0) {
        policy.touched(slots[i]);
        slots[i] = -1;
      } else {
        slots[i] = room();
      }
    }
    for (int i = hit; i < request.blockCount(); i++) {
      long block = request.block(i);
      if (slots[i] >= 0) {
        slotByBlock.put(block, slots[i]);
        blockBySlot[slots[i]] = block;
        policy.entered(slots[i], mixed(block));
      }
    }
    return hit;
  }

  private int room() {
    if (free > 0) {
      return freeSlots[--free];
    }
    int victim = policy.takeVictim(slot -> true);
    slotByBlock.remove(blockBySlot[victim]);
    return victim;
  }

  private static long mixed(long block) {
    long mixed = (block + 1) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    return mixed ^ (mixed >>> 29);
  }
}
