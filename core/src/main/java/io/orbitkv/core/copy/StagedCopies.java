package io.orbitkv.core.copy;

import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * Sends each copy to whom it belongs: pages that this process reaches to the workers, staged pages
 * to the mover of their GPU. A task in flight holds one place of the completion queue from the
 * start, so that a mover never waits to report.
 */
public final class StagedCopies implements CopyExecutor {
  private final CopyExecutor workers;
  private final int maxInFlight;
  private final ManyToOneConcurrentArrayQueue<CopyTask> ended;
  private final Runnable wakeLoop;
  private int staged;

  /**
   * @param workers for all that is not staged
   * @param maxInFlight tasks submitted and not yet polled, at least 1
   * @param wakeLoop called by a mover when a task has ended
   */
  public StagedCopies(CopyExecutor workers, int maxInFlight, Runnable wakeLoop) {
    this.workers = workers;
    this.maxInFlight = maxInFlight;
    this.ended = new ManyToOneConcurrentArrayQueue<>(Math.max(2, maxInFlight));
    this.wakeLoop = wakeLoop;
  }

  @Override
  public boolean submit(CopyTask task) {
    if (!(task.buffers() instanceof StagedBuffers buffers)) {
      return workers.submit(task);
    }
    if (inFlight() >= maxInFlight) {
      return false;
    }
    staged++;
    buffers.submit(task);
    return true;
  }

  /** Takes a staged task that has ended. Movers' threads. */
  public void ended(CopyTask task) {
    if (!ended.offer(task)) {
      throw new IllegalStateException("more staged copies ended than were submitted");
    }
    wakeLoop.run();
  }

  @Override
  public int poll(Consumer<CopyTask> consumer, int limit) {
    int polled = workers.poll(consumer, limit);
    for (CopyTask task; polled < limit && (task = ended.poll()) != null; polled++) {
      staged--;
      consumer.accept(task);
    }
    return polled;
  }

  @Override
  public int inFlight() {
    return workers.inFlight() + staged;
  }
}
