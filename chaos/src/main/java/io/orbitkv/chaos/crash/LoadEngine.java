package io.orbitkv.chaos.crash;

import org.jspecify.annotations.Nullable;

/**
 * An engine that asks, restores, checks and publishes, notes what it is told, and goes on by itself
 * when the daemon dies and comes back. Runs on a thread of its own; the rest may be asked by any.
 */
interface LoadEngine extends Runnable, AutoCloseable {
  /** The newest epoch in which a lease was granted to it. */
  long servedEpoch();

  /** Requests that were completed. */
  long operations();

  /** How many attempts to use a lease of a dead epoch were refused as STALE. */
  long deadRefused();

  /** How many requests were refused because the journal's disk was full. */
  long journalFull();

  /** What broke a promise that it can see by itself; null if nothing did. */
  @Nullable Throwable failure();

  /**
   * Holds it back after what it is at, or lets it go on.
   *
   * @throws UnsupportedOperationException if it cannot be held back
   */
  void pause(boolean wanted);

  /** Whether it is held back. */
  boolean paused();

  void stop();

  @Override
  void close();
}
