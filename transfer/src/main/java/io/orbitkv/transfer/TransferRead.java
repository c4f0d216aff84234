package io.orbitkv.transfer;

import java.util.concurrent.CompletableFuture;

/**
 * A read that was begun. It ends once, within its deadline; its destination may outlast it in
 * quarantine, for as long as anything might still write to it.
 */
public interface TransferRead {

  /** Completes when the read ends, never exceptionally. */
  CompletableFuture<ReadOutcome> outcome();

  /**
   * Completes when nothing will ever write to the destination for this read, which is not before
   * {@link #outcome}. Only then may the memory be used or freed.
   */
  CompletableFuture<Void> released();

  /** Gives it up, unless it has ended: the outcome is {@link TransferFailure.Cancelled} at once. */
  void cancel();
}
