package io.orbitkv.core.copy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads that copy. Loads are taken before saves, and a worker looks for a load after
 * each part of a save, so a save delays a load by one part at most. A task in flight holds one
 * place of the completion queue from the start, so that a worker never waits to report.
 */
public final class CopyWorkers implements CopyExecutor, AutoCloseable {
  private final int maxInFlight;
  private final Runnable wakeLoop;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<CopyTask> loads = new ArrayDeque<>();
  private final ArrayDeque<CopyTask> saves = new ArrayDeque<>();
  private final ManyToOneConcurrentArrayQueue<CopyTask> ended;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;
  private int inFlight;

  /**
   * Starts the workers.
   *
   * @param workers threads, at least 1
   * @param maxInFlight tasks submitted and not yet polled, at least 1
   * @param wakeLoop called by a worker when a task has ended
   */
  public CopyWorkers(int workers, int maxInFlight, Runnable wakeLoop) {
    this.maxInFlight = maxInFlight;
    this.wakeLoop = wakeLoop;
    this.ended = new ManyToOneConcurrentArrayQueue<>(Math.max(2, maxInFlight));
    for (int i = 0; i < workers; i++) {
      threads.add(Thread.ofPlatform().name("orbitkv-copy-" + i).daemon().start(this::work));
    }
  }

  @Override
  public boolean submit(CopyTask task) {
    if (closed || inFlight == maxInFlight) {
      return false;
    }
    inFlight++;
    lock.lock();
    try {
      (task.urgent() ? loads : saves).addLast(task);
      if (task.parts() > 1) {
        work.signalAll();
      } else {
        work.signal();
      }
    } finally {
      lock.unlock();
    }
    return true;
  }

  @Override
  public int poll(Consumer<CopyTask> consumer, int limit) {
    int polled = 0;
    for (CopyTask task; polled < limit && (task = ended.poll()) != null; polled++) {
      inFlight--;
      consumer.accept(task);
    }
    return polled;
  }

  @Override
  public int inFlight() {
    return inFlight;
  }

  /**
   * Stops the workers after the part each is at; waits up to five seconds for them.
   *
   * @throws IllegalStateException if a worker does not end: its memory must then not be unmapped
   */
  @Override
  public void close() {
    closed = true;
    lock.lock();
    try {
      work.signalAll();
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    for (Thread thread : threads) {
      while (thread.isAlive() && System.nanoTime() < deadline) {
        try {
          TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadline - System.nanoTime()));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (threads.stream().anyMatch(Thread::isAlive)) {
      throw new IllegalStateException("a copy worker did not stop within 5 s");
    }
  }

  private void work() {
    while (true) {
      CopyTask task = take();
      if (task == null) {
        return;
      }
      CopyTask.Progress progress = task.runNextPart();
      while (progress == CopyTask.Progress.MORE && !(closed || (!task.urgent() && loadWaits()))) {
        progress = task.runNextPart();
      }
      if (progress == CopyTask.Progress.FINISHED) {
        if (!ended.offer(task)) {
          throw new IllegalStateException("more copies in flight than places to report them");
        }
        wakeLoop.run();
      }
    }
  }

  /**
   * The next task with a part to take, left in its queue while it has more than this worker will
   * take.
   */
  private @Nullable CopyTask take() {
    lock.lock();
    try {
      while (!closed) {
        CopyTask task = firstWithParts(loads);
        if (task == null) {
          task = firstWithParts(saves);
        }
        if (task != null) {
          return task;
        }
        work.awaitUninterruptibly();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private static @Nullable CopyTask firstWithParts(ArrayDeque<CopyTask> queue) {
    for (CopyTask task = queue.peekFirst(); task != null; task = queue.peekFirst()) {
      if (task.hasUntakenParts()) {
        return task;
      }
      queue.pollFirst();
    }
    return null;
  }

  private boolean loadWaits() {
    lock.lock();
    try {
      return firstWithParts(loads) != null;
    } finally {
      lock.unlock();
    }
  }
}
