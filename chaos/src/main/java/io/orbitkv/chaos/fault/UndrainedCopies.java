package io.orbitkv.chaos.fault;

import io.orbitkv.core.FactLog;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.state.HostEvent;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reports a publish as ended as soon as it is cancelled, and goes on writing into its extents for a
 * while, as a copy engine does that has the copies in its queue.
 */
final class UndrainedCopies implements LoopWiring {
  private static final int SWEEPS = 3;
  private static final int SWEEP_MILLIS = 100;

  /** Where each publish that has not ended is to lie. */
  private final Map<Long, HostEvent.SlicesReserved> reserved = new HashMap<>();

  @Override
  public FactLog log(FactLog journal) {
    return new FactLog() {
      @Override
      public long append(long atMicros, HostEvent event) {
        if (event instanceof HostEvent.SlicesReserved fact) {
          reserved.put(fact.publishId(), fact);
        } else if (event instanceof HostEvent.SlicesPublished fact) {
          reserved.remove(fact.publishId());
        }
        return journal.append(atMicros, event);
      }

      @Override
      public boolean hasRoom(int facts, long columnBytes) {
        return journal.hasRoom(facts, columnBytes);
      }

      @Override
      public void endBatch() {
        journal.endBatch();
      }
    };
  }

  @Override
  public CopyExecutor copies(CopyExecutor workers, MemorySegment pool) {
    return new Undrained(workers, pool);
  }

  private final class Undrained implements CopyExecutor {
    private final CopyExecutor workers;
    private final MemorySegment pool;
    private final List<CopyTask> running = new ArrayList<>();
    private final Set<CopyTask> reported = Collections.newSetFromMap(new IdentityHashMap<>());

    Undrained(CopyExecutor workers, MemorySegment pool) {
      this.workers = workers;
      this.pool = pool;
    }

    @Override
    public boolean submit(CopyTask task) {
      boolean taken = workers.submit(task);
      if (taken && !task.urgent()) {
        running.add(task);
      }
      return taken;
    }

    @Override
    public int poll(Consumer<CopyTask> ended, int limit) {
      List<CopyTask> cancelled = running.stream().filter(CopyTask::cancelled).toList();
      for (CopyTask task : cancelled) {
        running.remove(task);
        reported.add(task);
        HostEvent.SlicesReserved extents = reserved.remove(task.operationId());
        if (extents != null) {
          Thread.ofPlatform().daemon().name("late-copy").start(() -> goOn(extents));
        }
        ended.accept(task);
      }
      return cancelled.size()
          + workers.poll(
              task -> {
                if (!reported.remove(task)) {
                  running.remove(task);
                  ended.accept(task);
                }
              },
              limit);
    }

    private void goOn(HostEvent.SlicesReserved extents) {
      try {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
          Thread.sleep(SWEEP_MILLIS);
          for (int i = 0; i < extents.extentOffsets().size(); i++) {
            pool.asSlice(extents.extentOffsets().get(i), extents.extentBytes()).fill((byte) sweep);
          }
        }
      } catch (InterruptedException ending) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public int inFlight() {
      return workers.inFlight();
    }
  }
}
