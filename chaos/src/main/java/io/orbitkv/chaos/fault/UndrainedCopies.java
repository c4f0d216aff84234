package io.orbitkv.chaos.fault;

import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.manager.LoopWiring;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Reports a copy as ended as soon as it is cancelled, while a worker is still at it. */
final class UndrainedCopies implements CopyExecutor {
  private final CopyExecutor workers;
  private final List<CopyTask> running = new ArrayList<>();
  private final Set<CopyTask> reported = Collections.newSetFromMap(new IdentityHashMap<>());

  private UndrainedCopies(CopyExecutor workers) {
    this.workers = workers;
  }

  static LoopWiring wiring() {
    return new LoopWiring() {
      @Override
      public CopyExecutor copies(CopyExecutor workers) {
        return new UndrainedCopies(workers);
      }
    };
  }

  @Override
  public boolean submit(CopyTask task) {
    boolean taken = workers.submit(task);
    if (taken) {
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

  @Override
  public int inFlight() {
    return workers.inFlight();
  }
}
