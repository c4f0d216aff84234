package io.orbitkv.catalog.inventory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives the memory of dead views back, on one thread that works a small part of the time, so that
 * lookups do not notice: a step of {@value #STEP_ROWS} rows, then a pause some times as long.
 */
public final class TableSweeper implements AutoCloseable {
  /** Rows of one step: some ten microseconds under one segment's lock. */
  static final int STEP_ROWS = 128;

  private static final int PAUSES_PER_STEP = 4;
  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final InventoryReceiver receiver;
  private final Thread thread;
  private volatile boolean closed;

  /** Begins to sweep all tables of a receiver, those of later times included. */
  public TableSweeper(InventoryReceiver receiver) {
    this.receiver = receiver;
    this.thread = Thread.ofPlatform().name("orbitkv-sweeper").daemon().start(this::loop);
  }

  private void loop() {
    while (!closed) {
      boolean more = false;
      for (InventoryTable table : receiver.tables().values()) {
        long began = System.nanoTime();
        boolean tableHasMore = table.sweep(STEP_ROWS);
        if (tableHasMore && !closed) {
          long took = System.nanoTime() - began;
          LockSupport.parkNanos(this, Math.max(SHORTEST_PAUSE_NANOS, took * PAUSES_PER_STEP));
        }
        more |= tableHasMore;
      }
      if (!more && !closed) {
        LockSupport.parkNanos(this, LOOK_NANOS);
      }
    }
  }

  /** Ends the thread, within a second. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
