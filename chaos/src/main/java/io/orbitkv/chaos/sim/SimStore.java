package io.orbitkv.chaos.sim;

import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Counts the tasks that the loop gave to a store and has not got back. */
class SimStore implements SsdStore {
  private final SsdStore store;
  private final Map<Long, Integer> writing = new HashMap<>();
  private final ArrayDeque<SsdTask> early = new ArrayDeque<>();
  private final Set<SsdTask> unheard = Collections.newSetFromMap(new IdentityHashMap<>());
  private int inFlight;
  private long endedTasks;

  SimStore(SsdStore store) {
    this.store = store;
  }

  /** A task comes back to the loop. */
  void ended(SsdTask task) {}

  /**
   * Another task that the store is given, because this one has ended for the loop; null for the
   * task itself.
   */
  @Nullable SsdTask instead(SsdTask task) {
    return null;
  }

  final int inFlight() {
    return inFlight;
  }

  /** Tasks that have come back to the loop. */
  final long endedTasks() {
    return endedTasks;
  }

  /** Whether a block is on its way to the disk. */
  final boolean isWriting(long blockId) {
    return writing.containsKey(blockId);
  }

  @Override
  public final boolean submit(SsdTask task) {
    SsdTask other = instead(task);
    boolean taken = store.submit(other == null ? task : other);
    if (taken) {
      inFlight++;
      count(task, 1);
      if (other != null) {
        early.add(task);
        unheard.add(other);
      }
    }
    return taken;
  }

  @Override
  public final int poll(Consumer<SsdTask> consumer, int limit) {
    int told = 0;
    for (SsdTask task; told < limit && (task = early.poll()) != null; told++) {
      consumer.accept(task);
    }
    return told
        + store.poll(
            task -> {
              inFlight--;
              endedTasks++;
              count(task, -1);
              ended(task);
              if (!unheard.remove(task)) {
                consumer.accept(task);
              }
            },
            limit);
  }

  private void count(SsdTask task, int times) {
    for (int block = 0; !task.isRead() && block < task.blocks(); block++) {
      writing.merge(task.blockId(block), times, Integer::sum);
      writing.remove(task.blockId(block), 0);
    }
  }

  @Override
  public long progress() {
    return store.progress();
  }
}
