package io.orbitkv.chaos.sim;

import io.orbitkv.state.HostState;
import java.util.HashMap;
import java.util.Map;

/**
 * Books of the pool from which an extent can be taken before its time; its own time then passes
 * unheard. For planted bugs.
 */
final class EagerBooks extends SimMemory.Books {
  private final Map<Long, Integer> taken = new HashMap<>();

  EagerBooks(SimMemory memory, int granuleBytes, long firstGeneration) {
    memory.super(granuleBytes, firstGeneration);
  }

  /** Frees every extent of a block that is in DRAM or on its way there. */
  void freeEarly(HostState live, int slot) {
    for (int slice = 0; slice < live.slices(slot); slice++) {
      if (live.reserved(slot, slice)) {
        long offset = live.extentOffset(slot, slice);
        super.free(offset, live.extentBytes(slot, slice));
        taken.merge(offset, 1, Integer::sum);
      }
    }
  }

  @Override
  public void free(long offset, int bytes) {
    int before = taken.getOrDefault(offset, 0);
    if (before == 0) {
      super.free(offset, bytes);
    } else {
      taken.put(offset, before - 1);
    }
  }
}
