package io.orbitkv.transfer.mooncake;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A read through the library: it ends once, and is released when its batch has ended. */
final class MooncakeRead implements TransferRead {
  private final PeerEndpoint source;
  private final List<RangeRead> ranges;
  private final RangeVerifier verifier;
  private final Duration deadline;
  private final long begunNanos = System.nanoTime();
  private final CompletableFuture<ReadOutcome> outcome = new CompletableFuture<>();
  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private volatile Stage stage = Stage.QUEUED;
  private volatile long batch;

  /** What the library knows of it. */
  enum Stage {
    /** Nothing yet, or a submit is under way or has failed half. */
    QUEUED,
    SUBMITTED,
    /** Nothing, for ever. */
    NEVER,
    /** Something that only the engine's end can tell. */
    LOST
  }

  MooncakeRead(
      PeerEndpoint source,
      Grant grant,
      List<RangeRead> ranges,
      RangeVerifier verifier,
      Duration deadline) {
    if (!grant.runtime().equals(source.runtime())) {
      throw new IllegalArgumentException("a grant of another run of the source");
    }
    this.source = source;
    this.ranges = List.copyOf(ranges);
    this.verifier = verifier;
    this.deadline = deadline;
  }

  @Override
  public CompletableFuture<ReadOutcome> outcome() {
    return outcome;
  }

  @Override
  public CompletableFuture<Void> released() {
    return released;
  }

  @Override
  public void cancel() {
    end(new TransferFailure.Cancelled());
  }

  PeerEndpoint source() {
    return source;
  }

  List<RangeRead> ranges() {
    return ranges;
  }

  Duration deadline() {
    return deadline;
  }

  long deadlineNanos() {
    return begunNanos + deadline.toNanos();
  }

  long bytes() {
    return ranges.stream().mapToLong(each -> each.source().length()).sum();
  }

  Stage stage() {
    return stage;
  }

  long batch() {
    return batch;
  }

  void submitted(long id) {
    batch = id;
    stage = Stage.SUBMITTED;
  }

  void neverSubmitted() {
    stage = Stage.NEVER;
  }

  void lost() {
    stage = Stage.LOST;
  }

  /** What to tell when all bytes have come. */
  ReadOutcome verified() {
    for (int i = 0; i < ranges.size(); i++) {
      RangeRead each = ranges.get(i);
      if (!verifier.holds(i, each.source(), each.destination())) {
        return new TransferFailure.Corrupt(i, each.source());
      }
    }
    return new Receipt(bytes(), ranges.size(), ranges.size(), System.nanoTime() - begunNanos);
  }

  /** Ends it, if it has not ended; whether it did. */
  boolean end(ReadOutcome how) {
    return outcome.complete(how);
  }

  void release() {
    released.complete(null);
  }
}
