package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.TransferFailure;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a read that travels as one request. From its first byte until it is over, only the
 * event loop of its connection touches it, and its destination.
 */
final class Piece {
  /** Runs of fewer bytes are copied out of a larger read: a system call would cost more. */
  private static final int MIN_PLACED_BYTES = 2 << 10;

  private final ReadOperation operation;
  private final List<RangeRead> ranges;
  private final long bytes;
  private volatile @Nullable PeerConnection connection;
  private int tries;
  private int rangeIndex;
  private long offsetInRange;

  Piece(ReadOperation operation, List<RangeRead> ranges) {
    this.operation = operation;
    this.ranges = List.copyOf(ranges);
    long total = 0;
    for (RangeRead each : ranges) {
      total += each.source().length();
    }
    this.bytes = total;
  }

  ReadOperation operation() {
    return operation;
  }

  long bytes() {
    return bytes;
  }

  List<PoolRange> ranges() {
    List<PoolRange> result = new ArrayList<>(ranges.size());
    for (RangeRead each : ranges) {
      result.add(each.source());
    }
    return result;
  }

  void submit(PeerConnection to) {
    tries++;
    rangeIndex = 0;
    offsetInRange = 0;
    connection = to;
    to.submit(this);
  }

  int tries() {
    return tries;
  }

  /** Makes the connection let go of the destination, if it still may write to it. */
  void abort() {
    PeerConnection current = connection;
    if (current != null) {
      current.abort(this);
    }
  }

  /** Where the next bytes go, for the kernel to write to; null if they are to be copied. */
  @Nullable ByteBuf target() {
    MemorySegment rest = rest();
    return rest.byteSize() < MIN_PLACED_BYTES
        ? null
        : Unpooled.wrappedBuffer(rest.asByteBuffer()).clear();
  }

  /** Copies bytes to where they go. */
  void take(ByteBuf in, long count) {
    long left = count;
    while (left > 0) {
      MemorySegment rest = rest();
      int now = (int) Math.min(left, rest.byteSize());
      in.readBytes(rest.asSlice(0, now).asByteBuffer());
      advance(now);
      left -= now;
    }
  }

  /** Bytes have come to their place. */
  void advance(long count) {
    offsetInRange += count;
    if (offsetInRange == ranges.get(rangeIndex).source().length()) {
      rangeIndex++;
      offsetInRange = 0;
    }
  }

  private MemorySegment rest() {
    return ranges.get(rangeIndex).destination().asSlice(offsetInRange);
  }

  /** All bytes are in place, and nothing will write there. */
  void arrived() {
    operation.arrived();
    operation.over();
  }

  /** Nothing will write to the destination any more. */
  void failed(TransferFailure failure) {
    operation.end(failure);
    operation.over();
  }
}
