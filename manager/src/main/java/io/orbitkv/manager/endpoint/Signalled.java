package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.NativeException;

/** An eventfd shared with a client, as {@link SignalGuard} watches it. */
interface Signalled {
  /** How many signals were written. */
  long signalsEnded();

  /** Whether somebody is writing a signal, perhaps in vain. */
  boolean signalling();

  /**
   * Sets free whoever waits for the counter that the client filled.
   *
   * @return whether it was full
   */
  boolean release() throws NativeException;
}
