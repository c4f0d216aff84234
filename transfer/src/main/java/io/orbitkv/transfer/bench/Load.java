package io.orbitkv.transfer.bench;

import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps some reads of one size under way for a time: the end of one begins the next. */
final class Load {
  private static final int MAX_SAMPLES = 200_000;
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final TransferEngine engine;
  private final BenchSource source;
  private final MemorySegment destinations;
  private final int size;
  private final long endNanos;
  private final CountDownLatch open;
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong done = new AtomicLong();
  private final AtomicInteger samples = new AtomicInteger();
  private final long[] nanos = new long[MAX_SAMPLES];

  private Load(
      TransferEngine engine,
      BenchSource source,
      MemorySegment destinations,
      int size,
      int depth,
      double seconds) {
    this.engine = engine;
    this.source = source;
    this.destinations = destinations;
    this.size = size;
    this.endNanos = System.nanoTime() + (long) (seconds * 1e9);
    this.open = new CountDownLatch(depth);
  }

  /** What came of it. */
  record Result(long bytes, long nanos, double p50Nanos, double p99Nanos) {
    double bytesPerSecond() {
      return bytes * 1e9 / nanos;
    }
  }

  static Result run(
      TransferEngine engine,
      BenchSource source,
      MemorySegment destinations,
      int size,
      int depth,
      double seconds)
      throws InterruptedException {
    long from = System.nanoTime();
    Load load = new Load(engine, source, destinations, size, depth, seconds);
    for (int i = 0; i < depth; i++) {
      load.next(i);
    }
    load.open.await();
    long took = System.nanoTime() - from;
    long[] sorted = Arrays.copyOf(load.nanos, Math.min(load.samples.get(), MAX_SAMPLES));
    Arrays.sort(sorted);
    return new Result(
        load.done.get() * size, took, percentile(sorted, 0.5), percentile(sorted, 0.99));
  }

  private static double percentile(long[] sorted, double share) {
    return sorted.length == 0 ? Double.NaN : sorted[(int) (share * (sorted.length - 1))];
  }

  private void next(int slot) {
    if (System.nanoTime() >= endNanos) {
      open.countDown();
      return;
    }
    long slots = TransferBench.POOL_BYTES / size;
    PoolRange range = new PoolRange(begun.getAndIncrement() % slots * size, size);
    RangeRead into = new RangeRead(range, destinations.asSlice((long) slot * size, size));
    TransferRead read =
        engine.read(source.endpoint(), source.grant(), List.of(into), RangeVerifier.NONE, DEADLINE);
    var _ = read.released().thenRun(() -> finished(read.outcome().join(), slot));
  }

  private void finished(ReadOutcome outcome, int slot) {
    switch (outcome) {
      case Receipt receipt -> {
        done.incrementAndGet();
        int sample = samples.getAndIncrement();
        if (sample < MAX_SAMPLES) {
          nanos[sample] = receipt.nanos();
        }
        next(slot);
      }
      case TransferFailure failure -> {
        System.err.println("a read failed: " + failure);
        open.countDown();
      }
    }
  }
}
