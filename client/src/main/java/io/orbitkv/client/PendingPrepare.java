package io.orbitkv.client;

import java.util.Optional;

/** A preparation that was submitted. */
public final class PendingPrepare {
  private final LiveSession session;
  private final Pending pending;

  PendingPrepare(LiveSession session, Pending pending) {
    this.session = session;
    this.pending = pending;
  }

  /**
   * Waits until what could come has come.
   *
   * @return what it came to, empty if it takes longer
   */
  public Optional<PrepareResult> await(long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    boolean over =
        session.driver().await(pending, deadline)
            && session.driver().awaitNotice(pending, deadline);
    return over ? Optional.of(Results.prepare(pending)) : Optional.empty();
  }

  LiveSession session() {
    return session;
  }

  long requestId() {
    return pending.requestId;
  }
}
