package io.orbitkv.chaos.sim;

import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Copies that happen when the schedule says, in the order it says. */
class SimCopies implements CopyExecutor {
  private final int maxInFlight;
  private final List<CopyTask> waiting = new ArrayList<>();
  private final ArrayDeque<CopyTask> ended = new ArrayDeque<>();
  private int moving;

  SimCopies(int maxInFlight) {
    this.maxInFlight = maxInFlight;
  }

  @Override
  public boolean submit(CopyTask task) {
    return inFlight() < maxInFlight && waiting.add(task);
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
    return waiting.size() + moving + ended.size();
  }

  /** Copies that have not begun. */
  final int waiting() {
    return waiting.size();
  }

  /** Runs one copy from its beginning to its end; the loop hears of it when it polls. */
  final void run(int index) {
    CopyTask task = waiting.remove(index);
    moving++;
    task.runHere();
    moving--;
    ran(task);
  }

  /** A copy's bytes have moved. */
  void ran(CopyTask task) {
    ended.add(task);
  }

  /** Tells the loop of a copy. */
  final void tell(CopyTask task) {
    ended.add(task);
  }

  /** Lets a copy wait for its turn without being asked whether there is room. */
  final void enqueue(CopyTask task) {
    waiting.add(task);
  }
}
