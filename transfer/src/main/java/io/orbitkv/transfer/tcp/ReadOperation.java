package io.orbitkv.transfer.tcp;

import io.netty.util.concurrent.ScheduledFuture;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A read over all its pieces. Its end and its release are two things: it ends once, at once, and it
 * is released when the last piece is over, which for a failure may be later.
 */
final class ReadOperation implements TransferRead {
  private final TcpTransferEngine engine;
  private final Grant grant;
  private final List<RangeRead> ranges;
  private final RangeVerifier verifier;
  private final long bytes;
  private final long begunNanos = System.nanoTime();
  private final List<Piece> pieces;
  private final AtomicInteger toArrive;
  private final CompletableFuture<ReadOutcome> outcome = new CompletableFuture<>();
  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private volatile boolean ended;
  private boolean quarantined;
  private int touching;
  private volatile @Nullable ScheduledFuture<?> deadline;

  ReadOperation(
      TcpTransferEngine engine,
      Grant grant,
      List<RangeRead> ranges,
      RangeVerifier verifier,
      TcpOptions.Flow flow) {
    this.engine = engine;
    this.grant = grant;
    this.ranges = List.copyOf(ranges);
    this.verifier = verifier;
    long total = 0;
    for (RangeRead each : ranges) {
      total += each.source().length();
    }
    this.bytes = total;
    this.pieces = cut(flow);
    this.toArrive = new AtomicInteger(pieces.size());
    this.touching = pieces.size();
  }

  Grant grant() {
    return grant;
  }

  long bytes() {
    return bytes;
  }

  boolean hasEnded() {
    return ended;
  }

  /** Sends every piece, over consecutive connections from a first one on. */
  void begin(PeerLinks.Stripes stripes, int firstStripe, Duration limit) {
    PeerConnection first = stripes.connection(firstStripe);
    deadline =
        first
            .loop()
            .schedule(
                () -> give(new TransferFailure.DeadlinePassed(limit)),
                limit.toNanos(),
                TimeUnit.NANOSECONDS);
    for (int i = 0; i < pieces.size(); i++) {
      pieces.get(i).submit(i == 0 ? first : stripes.connection(firstStripe + i));
    }
  }

  /** Ends a read that was never begun. */
  ReadOperation refuse(TransferFailure failure) {
    ended = true;
    engine.counters().failed(failure);
    outcome.complete(failure);
    released.complete(null);
    return this;
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
    give(new TransferFailure.Cancelled());
  }

  /** Ends it and makes every connection let go of its destination. */
  void give(TransferFailure failure) {
    if (end(failure)) {
      pieces.forEach(Piece::abort);
    }
  }

  /** Another piece is in place; with the last one the ranges are verified. */
  void arrived() {
    if (toArrive.decrementAndGet() > 0 || ended) {
      return;
    }
    for (int i = 0; i < ranges.size(); i++) {
      PoolRange range = ranges.get(i).source();
      if (!holds(i, range)) {
        end(new TransferFailure.Corrupt(i, range));
        return;
      }
    }
    end(new Receipt(bytes, ranges.size(), pieces.size(), System.nanoTime() - begunNanos));
  }

  private boolean holds(int index, PoolRange range) {
    try {
      return verifier.holds(index, range, ranges.get(index).destination());
    } catch (RuntimeException e) {
      engine.verifierThrew(e);
      return false;
    }
  }

  /** Another piece will not write to the destination any more. */
  void over() {
    synchronized (this) {
      touching--;
      if (touching > 0) {
        return;
      }
      if (quarantined) {
        engine.counters().readsInQuarantine.decrementAndGet();
      }
    }
    engine.forget(this);
    released.complete(null);
  }

  /** Ends it, if it has not ended; whether it did. */
  boolean end(ReadOutcome how) {
    synchronized (this) {
      if (ended) {
        return false;
      }
      ended = true;
      switch (how) {
        case Receipt receipt -> {
          engine.counters().readsDone.increment();
          engine.counters().bytesRead.add(receipt.bytes());
        }
        case TransferFailure failure -> {
          engine.counters().failed(failure);
          quarantined = true;
          engine.counters().readsInQuarantine.incrementAndGet();
        }
      }
    }
    ScheduledFuture<?> timer = deadline;
    if (timer != null) {
      timer.cancel(false);
    }
    outcome.complete(how);
    return true;
  }

  private List<Piece> cut(TcpOptions.Flow flow) {
    long share = (bytes + flow.stripes() - 1) / flow.stripes();
    long limit = Math.min(Math.max(share, flow.minPieceBytes()), flow.maxPieceBytes());
    List<Piece> result = new ArrayList<>();
    List<RangeRead> next = new ArrayList<>();
    long nextBytes = 0;
    for (RangeRead each : ranges) {
      long from = 0;
      long length = each.source().length();
      while (from < length) {
        long now = Math.min(length - from, limit - nextBytes);
        next.add(
            now == length
                ? each
                : new RangeRead(
                    new PoolRange(each.source().offset() + from, now),
                    each.destination().asSlice(from, now)));
        nextBytes += now;
        from += now;
        if (nextBytes == limit || next.size() == Wire.MAX_RANGES) {
          result.add(new Piece(this, next));
          next.clear();
          nextBytes = 0;
        }
      }
    }
    if (!next.isEmpty()) {
      result.add(new Piece(this, next));
    }
    return result;
  }
}
