package io.orbitkv.core.ssd.device;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Goes through pread and pwrite of platform threads, where io_uring or reading past the page cache
 * is not to be had. Each operation occupies one thread from start to end.
 */
public final class PosixDevice implements SsdDevice {
  private static final long CLOSE_NANOS = 5_000_000_000L;

  /** The one operation of a slot, reused; a thread has it between hand-over and end. */
  private static final class Operation {
    final int slot;
    boolean write;
    int file;
    long fileOffset;
    long poolOffset;
    int bytes;
    int result;

    Operation(int slot) {
      this.slot = slot;
    }
  }

  private final List<DiskFile> files;
  private final MemorySegment pool;
  private final Bounds bounds;
  private final Slots slots;
  private final Operation[] operations;
  private final WakeFlag wakeFlag = new WakeFlag();

  /** Accepted and not yet flushed, a prefix of the array. */
  private final Operation[] queued;

  private int queuedCount;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();

  /** Flushed and not yet taken by a thread: a ring, guarded by the lock as are its two counters. */
  private final Operation[] waiting;

  private int waitingHead;
  private int waitingCount;
  private boolean stopping;

  private final ManyToOneConcurrentArrayQueue<Operation> ended;
  private final List<Thread> threads = new ArrayList<>();
  private volatile @Nullable Thread owner;

  private PosixDevice(
      List<DiskFile> files, MemorySegment pool, Bounds bounds, int depth, int threadCount) {
    this.files = List.copyOf(files);
    this.pool = pool;
    this.bounds = bounds;
    this.slots = new Slots(depth);
    this.operations = new Operation[depth];
    for (int slot = 0; slot < depth; slot++) {
      operations[slot] = new Operation(slot);
    }
    this.queued = new Operation[depth];
    this.waiting = new Operation[depth];
    this.ended = new ManyToOneConcurrentArrayQueue<>(Math.max(2, depth));
    for (int i = 0; i < threadCount; i++) {
      threads.add(Thread.ofPlatform().name("orbitkv-ssd-io-" + i).daemon().start(this::work));
    }
  }

  /**
   * Starts the threads.
   *
   * @param files stay open until the device is closed, and belong to the caller
   * @param pool mapped at a multiple of 4096 until the device is closed
   * @param depth 1 to 4096
   * @param threads 1 to {@code depth}; so many operations run at a time, the others wait
   * @throws NativeException if a file's length cannot be read
   */
  public static PosixDevice open(List<DiskFile> files, MemorySegment pool, int depth, int threads)
      throws NativeException {
    if (depth < 1 || threads < 1 || threads > depth) {
      throw new IllegalArgumentException(threads + " threads for a depth of " + depth);
    }
    return new PosixDevice(files, pool, new Bounds(files, pool), depth, threads);
  }

  @Override
  public int depth() {
    return slots.depth();
  }

  @Override
  public int inFlight() {
    return slots.inFlight();
  }

  @Override
  public boolean read(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return queue(false, file, fileOffset, poolOffset, bytes, token);
  }

  @Override
  public boolean write(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return queue(true, file, fileOffset, poolOffset, bytes, token);
  }

  @Override
  public void flush() {
    if (queuedCount == 0) {
      return;
    }
    lock.lock();
    try {
      for (int i = 0; i < queuedCount; i++) {
        waiting[(waitingHead + waitingCount++) % waiting.length] = queued[i];
        work.signal();
      }
    } finally {
      lock.unlock();
    }
    queuedCount = 0;
  }

  @Override
  public int poll(Completions sink) {
    int count = 0;
    for (Operation operation; (operation = ended.poll()) != null; count++) {
      int result = operation.result;
      sink.completed(slots.release(operation.slot), result);
    }
    return count;
  }

  @Override
  public void await(long timeoutNanos) {
    flush();
    if (timeoutNanos <= 0) {
      return;
    }
    owner = Thread.currentThread();
    if (wakeFlag.beginSleep()) {
      if (ended.isEmpty()) {
        LockSupport.parkNanos(this, timeoutNanos);
      }
      wakeFlag.endSleep();
    }
  }

  @Override
  public void wake() {
    if (wakeFlag.wake()) {
      LockSupport.unpark(owner);
    }
  }

  @Override
  public void close() {
    long deadline = System.nanoTime() + CLOSE_NANOS;
    for (long left = CLOSE_NANOS; inFlight() > 0 && left > 0; left = deadline - System.nanoTime()) {
      await(left);
      poll((_, _) -> {});
    }
    if (inFlight() > 0) {
      throw new IllegalStateException(slots.describe());
    }
    lock.lock();
    try {
      stopping = true;
      work.signalAll();
    } finally {
      lock.unlock();
    }
    join(deadline);
  }

  private boolean queue(
      boolean write, int file, long fileOffset, long poolOffset, int bytes, long token) {
    bounds.check(file, fileOffset, poolOffset, bytes);
    int slot = slots.take(token);
    if (slot < 0) {
      return false;
    }
    Operation operation = operations[slot];
    operation.write = write;
    operation.file = file;
    operation.fileOffset = fileOffset;
    operation.poolOffset = poolOffset;
    operation.bytes = bytes;
    queued[queuedCount++] = operation;
    return true;
  }

  private void work() {
    for (Operation operation; (operation = take()) != null; ) {
      MemorySegment memory = pool.asSlice(operation.poolOffset, operation.bytes);
      DiskFile file = files.get(operation.file);
      operation.result =
          operation.write
              ? file.write(memory, operation.fileOffset)
              : file.read(memory, operation.fileOffset);
      if (!ended.offer(operation)) {
        throw new IllegalStateException("more operations than places to report them");
      }
      wake();
    }
  }

  private @Nullable Operation take() {
    lock.lock();
    try {
      while (waitingCount == 0) {
        if (stopping) {
          return null;
        }
        work.awaitUninterruptibly();
      }
      Operation operation = waiting[waitingHead];
      waitingHead = (waitingHead + 1) % waiting.length;
      waitingCount--;
      return operation;
    } finally {
      lock.unlock();
    }
  }

  /** They have nothing left to do and end at once. */
  private void join(long deadline) {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive() && System.nanoTime() < deadline) {
        try {
          TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadline - System.nanoTime()));
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
