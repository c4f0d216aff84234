package io.orbitkv.core.copy;

import java.util.function.Consumer;

/** Runs copies beside the manager loop. The loop submits and polls; nobody else does. */
public interface CopyExecutor {

  /** Takes a task, or returns false when as many as allowed are in flight. */
  boolean submit(CopyTask task);

  /** Hands over tasks that have ended, at most {@code limit}; returns how many. */
  int poll(Consumer<CopyTask> ended, int limit);

  /** Tasks submitted and not yet handed over by {@link #poll}. */
  int inFlight();
}
