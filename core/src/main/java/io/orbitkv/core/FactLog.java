package io.orbitkv.core;

import io.orbitkv.state.HostEvent;

/** The journal as the loop needs it. */
public interface FactLog {
  /**
   * Makes a fact durable against the death of the process.
   *
   * @param atMicros wall clock, microseconds since 1970
   * @return its position: one more than the one before
   */
  long append(long atMicros, HostEvent event);

  /**
   * Whether facts may be appended that promise something, while a reserve for facts that end
   * something stays. Endings are appended without asking.
   *
   * @param facts how many
   * @param columnBytes what their columns of keys and blocks add
   */
  boolean hasRoom(int facts, long columnBytes);

  /** Ends a batch: only after this are replies sent that tell of its facts. */
  void endBatch();
}
