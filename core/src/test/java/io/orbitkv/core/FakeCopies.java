package io.orbitkv.core;

import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Copies that happen when the test says so, in the order it says. */
final class FakeCopies implements CopyExecutor {
  final List<CopyTask> running = new ArrayList<>();
  private final ArrayDeque<CopyTask> ended = new ArrayDeque<>();

  @Override
  public boolean submit(CopyTask task) {
    return running.add(task);
  }

  @Override
  public int poll(Consumer<CopyTask> consumer, int limit) {
    int polled = 0;
    for (CopyTask task; polled < limit && (task = ended.poll()) != null; polled++) {
      consumer.accept(task);
    }
    return polled;
  }

  @Override
  public int inFlight() {
    return running.size() + ended.size();
  }

  /** Lets one copy run to its end; the loop hears of it in its next cycle. */
  void finish(int index) {
    CopyTask task = running.remove(index);
    task.runHere();
    ended.add(task);
  }

  void finishAll() {
    while (!running.isEmpty()) {
      finish(0);
    }
  }
}
