package io.orbitkv.core.ssd;

import java.util.function.Consumer;

/**
 * Moves blocks between the pool and the SSD tier beside the manager loop. The loop submits and
 * polls; nobody else does. Reads are begun before writes, and a task ends only when no operation of
 * it touches the pool any more.
 */
public interface SsdStore {

  /** Takes a task, or returns false when as many as allowed are in flight. */
  boolean submit(SsdTask task);

  /** Hands over tasks that have ended, at most {@code limit}; returns how many. */
  int poll(Consumer<SsdTask> ended, int limit);

  /** Grows with every operation of the disk that ends; any thread may ask. */
  long progress();
}
