package io.orbitkv.core;

import io.orbitkv.state.HostEvent;

/** The journal as the loop needs it. */
public interface FactLog {
  /**
   * Makes a fact durable against the death of the process.
   *
   * @return its position
   */
  long append(long atMicros, HostEvent event);

  /** Whether so many more facts of so many bytes in all can be appended for certain. */
  boolean hasRoom(long facts, long bytes);
}
