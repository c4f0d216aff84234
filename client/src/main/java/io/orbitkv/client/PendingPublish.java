package io.orbitkv.client;

import java.util.Optional;

/**
 * A publish on its way. The source pages must not change until it is done. Waiting reads
 * completions for every waiter of the session; nothing happens without somebody waiting or asking.
 */
public final class PendingPublish {
  private final LiveSession session;
  private final Pending pending;

  PendingPublish(LiveSession session, Pending pending) {
    this.session = session;
    this.pending = pending;
  }

  /** Whether the result is there. */
  public boolean isDone() {
    return session.driver().isDone(pending);
  }

  /**
   * Waits for the result.
   *
   * @return empty if it was not there in time; the publish goes on
   */
  public Optional<PublishResult> await(long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    return session.driver().await(pending, deadline)
        ? Optional.of(Results.publish(pending))
        : Optional.empty();
  }

  LiveSession session() {
    return session;
  }

  long requestId() {
    return pending.requestId;
  }
}
