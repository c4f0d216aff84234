package io.orbitkv.client;

import java.util.Optional;

/**
 * A restore on its way. The destination pages must not be used until it is done or the layer that
 * is wanted is in place. Waiting reads completions for every waiter of the session; nothing happens
 * without somebody waiting or asking.
 */
public final class PendingRestore {
  private final LiveSession session;
  private final Pending pending;

  PendingRestore(LiveSession session, Pending pending) {
    this.session = session;
    this.pending = pending;
  }

  /** Whether the result is there. */
  public boolean isDone() {
    return session.driver().isDone(pending);
  }

  /**
   * How many layers are in place and verified, ascending by layer; counted only if the restore was
   * submitted with progress.
   */
  public int layersDone() {
    return session.driver().layersDone(pending);
  }

  /**
   * Waits until so many layers are in place, or the restore is done.
   *
   * @return how many are; fewer than asked if the time was over or the restore failed
   */
  public int awaitLayers(int layers, long timeoutMillis) {
    return session
        .driver()
        .awaitLayers(pending, layers, System.nanoTime() + timeoutMillis * 1_000_000L);
  }

  /**
   * Waits for the result.
   *
   * @return empty if it was not there in time; the restore goes on
   */
  public Optional<RestoreResult> await(long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    return session.driver().await(pending, deadline)
        ? Optional.of(Results.restore(pending))
        : Optional.empty();
  }

  LiveSession session() {
    return session;
  }

  long requestId() {
    return pending.requestId;
  }
}
