package io.orbitkv.chaos.fault;

import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.manager.LoopWiring;
import java.util.function.Consumer;

/** Takes whatever comes back from the disk for what was written. */
final class UnverifiedReads implements SsdStore {
  private final SsdStore store;

  private UnverifiedReads(SsdStore store) {
    this.store = store;
  }

  static LoopWiring wiring() {
    return new LoopWiring() {
      @Override
      public SsdStore ssd(SsdStore store) {
        return new UnverifiedReads(store);
      }
    };
  }

  @Override
  public boolean submit(SsdTask task) {
    return store.submit(task);
  }

  @Override
  public int poll(Consumer<SsdTask> ended, int limit) {
    return store.poll(
        task -> {
          for (int block = 0; block < task.blocks(); block++) {
            for (int slice = 0; slice < task.slices(block); slice++) {
              if (task.result(block, slice) == SsdTask.CHECKSUM) {
                task.ended(block, slice, SsdTask.DONE, task.sum(block, slice));
              }
            }
          }
          ended.accept(task);
        },
        limit);
  }

  @Override
  public long progress() {
    return store.progress();
  }
}
