package io.orbitkv.core.ssd;

import io.orbitkv.core.ssd.device.SsdDevice;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs {@link SsdDuty} on a platform thread of its own, which owns the device. */
public final class SsdWorker implements SsdStore, AutoCloseable {
  private static final long IDLE_NANOS = 100_000_000;
  private static final long STOP_SECONDS = 10;

  /** How long the first engines have the processors for themselves, unless they want the disk. */
  private static final long SETTLE_NANOS = 1_000_000_000;

  private final SsdDevice device;
  private final SsdDuty duty;
  private final Thread thread;
  private volatile boolean settling = true;
  private volatile boolean closed;
  private volatile @Nullable RuntimeException failure;

  /**
   * Makes the thread, which {@link #start} starts.
   *
   * @param device not used by anybody yet; closed by this worker
   * @param pool the memory that the device moves bytes to and from
   * @param wakeLoop called when a task has ended
   * @param fatal called on the thread when it cannot go on; it should end the process
   */
  public SsdWorker(
      SsdDevice device, MemorySegment pool, Runnable wakeLoop, Consumer<Throwable> fatal) {
    this.device = device;
    this.duty = new SsdDuty(device, pool, wakeLoop);
    this.thread = Thread.ofPlatform().name("orbitkv-ssd").daemon().unstarted(() -> run(fatal));
  }

  /**
   * Begins to work on what was submitted. Not before the daemon serves: a disk that has nothing to
   * do registers the pool with the kernel, which brings all of its memory in and takes a processor
   * for seconds.
   */
  public void start() {
    thread.start();
  }

  @Override
  public boolean submit(SsdTask task) {
    if (closed || !duty.submit(task)) {
      return false;
    }
    if (settling) {
      LockSupport.unpark(thread);
    }
    return true;
  }

  @Override
  public int poll(Consumer<SsdTask> consumer, int limit) {
    return duty.poll(consumer, limit);
  }

  @Override
  public long progress() {
    return duty.progress();
  }

  /** What was moved since the start; any thread may read it. */
  public SsdCounters counters() {
    return duty.counters();
  }

  /**
   * Stops the thread and closes the device; waits some seconds for what is in flight.
   *
   * @throws IllegalStateException if operations do not end: the pool must then stay mapped
   */
  @Override
  public void close() {
    closed = true;
    if (thread.getState() == Thread.State.NEW) {
      device.close();
      return;
    }
    device.wake();
    LockSupport.unpark(thread);
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
    while (thread.isAlive() && System.nanoTime() < deadline) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadline - System.nanoTime()));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    RuntimeException why = failure;
    if (why != null) {
      throw new IllegalStateException("the SSD worker did not end well", why);
    }
    if (thread.isAlive()) {
      throw new IllegalStateException(
          "the SSD worker did not stop within %d s".formatted(STOP_SECONDS));
    }
  }

  /** Until the first task comes, or a little while is over. */
  private void settle() {
    long end = System.nanoTime() + SETTLE_NANOS;
    for (long left = SETTLE_NANOS;
        left > 0 && !closed && !duty.isWanted();
        left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
    settling = false;
  }

  private void run(Consumer<Throwable> fatal) {
    try {
      settle();
      while (!closed) {
        if (duty.doWork() == 0) {
          device.await(IDLE_NANOS);
        }
      }
      device.close();
    } catch (RuntimeException e) {
      failure = e;
      if (!closed) {
        fatal.accept(e);
      }
    }
  }
}
