package io.orbitkv.core.ssd;

import io.orbitkv.core.ssd.SsdOperation.TaskProgress;
import io.orbitkv.core.ssd.device.SsdDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The duty of whoever owns the SSD tier's device: takes tasks from the loop, cuts them into
 * operations, checks the sums of what was read, and hands ended tasks back. {@link SsdWorker} runs
 * it on a thread; a test or a simulator steps it.
 *
 * <p>Reads are begun before writes, because a query waits for them: writes have at most half of the
 * device's depth, and an eighth of it while reads wait. A read of several slices that fails is
 * repeated slice by slice, so that one bad sector costs one block. A task in flight holds one place
 * of the completion queue from the start, so that the worker never waits to report.
 */
public final class SsdDuty implements SsdStore {
  private static final int MAX_TASKS = 1024;

  private final SsdDevice device;
  private final MemorySegment pool;
  private final Runnable wakeLoop;
  private final OneToOneConcurrentArrayQueue<SsdTask> submitted =
      new OneToOneConcurrentArrayQueue<>(MAX_TASKS);
  private final OneToOneConcurrentArrayQueue<SsdTask> ended =
      new OneToOneConcurrentArrayQueue<>(MAX_TASKS);
  private final ArrayDeque<SsdOperation> reads = new ArrayDeque<>();
  private final ArrayDeque<SsdOperation> writes = new ArrayDeque<>();
  private final @Nullable SsdOperation[] running;
  private final int[] freeTokens;
  private final SsdCounters counters = new SsdCounters();
  private int freeCount;
  private int runningWrites;
  private int inFlight;

  /**
   * @param device not used by anybody yet
   * @param pool the memory that the device moves bytes to and from
   * @param wakeLoop called when a task has ended
   */
  public SsdDuty(SsdDevice device, MemorySegment pool, Runnable wakeLoop) {
    this.device = device;
    this.pool = pool;
    this.wakeLoop = wakeLoop;
    int depth = device.depth();
    this.running = new SsdOperation[depth];
    this.freeTokens = new int[depth];
    for (int token = depth - 1; token >= 0; token--) {
      freeTokens[freeCount++] = token;
    }
  }

  // ---- the loop's side
  // ---------------------------------------------------------------------------

  @Override
  public boolean submit(SsdTask task) {
    if (inFlight == MAX_TASKS) {
      return false;
    }
    inFlight++;
    if (!submitted.offer(task)) {
      throw new IllegalStateException("more tasks in flight than places for them");
    }
    device.wake();
    return true;
  }

  @Override
  public int poll(Consumer<SsdTask> consumer, int limit) {
    int polled = 0;
    for (SsdTask task; polled < limit && (task = ended.poll()) != null; polled++) {
      inFlight--;
      consumer.accept(task);
    }
    return polled;
  }

  @Override
  public long progress() {
    return counters.operations();
  }

  /** What was moved since the start; any thread may read it. */
  public SsdCounters counters() {
    return counters;
  }

  // ---- the device's side
  // -------------------------------------------------------------------------

  /** Whether a task was submitted that nobody has looked at; any thread may ask. */
  boolean isWanted() {
    return !submitted.isEmpty();
  }

  /** Begins what can be begun and looks at what has ended; returns how much was done. */
  public int doWork() {
    int work = take() + begin();
    device.flush();
    return work + device.poll(this::completed);
  }

  private int take() {
    int taken = 0;
    for (SsdTask task; (task = submitted.poll()) != null; taken++) {
      (task.isRead() ? reads : writes).addAll(SsdOperation.cut(new TaskProgress(task)));
    }
    return taken;
  }

  private int begin() {
    int begun = 0;
    while (freeCount > 0 && !reads.isEmpty()) {
      SsdOperation read = reads.removeFirst();
      if (read.of().task.stopped()) {
        leaveOut(read);
      } else {
        start(read);
      }
      begun++;
    }
    int share = Math.max(1, running.length / (reads.isEmpty() ? 2 : 8));
    while (freeCount > 0 && runningWrites < share && !writes.isEmpty()) {
      runningWrites++;
      start(writes.removeFirst());
      begun++;
    }
    return begun;
  }

  private void leaveOut(SsdOperation operation) {
    TaskProgress of = operation.of();
    for (int at = operation.from(); at < operation.to(); at++) {
      if (of.pieceEnded(at, SsdTask.CANCELLED)) {
        of.ended(at, of.failure(at), 0);
      }
    }
    reportIfEnded(of);
  }

  private void start(SsdOperation operation) {
    int token = freeTokens[--freeCount];
    running[token] = operation;
    boolean queued =
        operation.of().task.isRead()
            ? device.read(
                operation.file(),
                operation.fileOffset(),
                operation.poolOffset(),
                operation.bytes(),
                token)
            : device.write(
                operation.file(),
                operation.fileOffset(),
                operation.poolOffset(),
                operation.bytes(),
                token);
    if (!queued) {
      throw new IllegalStateException("the device refused an operation below its depth");
    }
  }

  private void completed(long token, int result) {
    SsdOperation operation = running[(int) token];
    if (operation == null) {
      throw new IllegalStateException("the device ended operation " + token + ", which is none");
    }
    running[(int) token] = null;
    freeTokens[freeCount++] = (int) token;
    TaskProgress of = operation.of();
    boolean read = of.task.isRead();
    runningWrites -= read ? 0 : 1;
    counters.ended(read, result);
    if (read && result != operation.bytes() && operation.slices() > 1) {
      operation.oneByOne().reversed().forEach(reads::addFirst);
      return;
    }
    long done = 0;
    for (int at = operation.from(); at < operation.to(); at++) {
      done += Math.min(of.slice(at).bytes(), operation.bytes());
      int pieceResult = result < 0 ? -result : result < done ? SsdTask.SHORT : SsdTask.DONE;
      if (of.pieceEnded(at, pieceResult)) {
        sliceEnded(of, at);
      }
    }
    reportIfEnded(of);
  }

  private void reportIfEnded(TaskProgress of) {
    if (of.left == 0) {
      if (!ended.offer(of.task)) {
        throw new IllegalStateException("more tasks in flight than places to report them");
      }
      wakeLoop.run();
    }
  }

  private void sliceEnded(TaskProgress of, int at) {
    SsdTask.Slice slice = of.slice(at);
    SsdTask.Proof proof = slice.proof();
    if (of.failure(at) != SsdTask.DONE || proof == null) {
      of.ended(at, of.failure(at), 0);
      return;
    }
    long sum = proof.shape().checksum(pool, slice.poolOffset(), proof.checksum());
    if (sum == proof.checksum()) {
      of.ended(at, SsdTask.DONE, sum);
    } else {
      counters.mismatched();
      of.ended(at, SsdTask.CHECKSUM, sum);
    }
  }
}
