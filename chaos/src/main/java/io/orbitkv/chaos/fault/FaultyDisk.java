package io.orbitkv.chaos.fault;

import io.orbitkv.core.ssd.device.Completions;
import io.orbitkv.core.ssd.device.SsdDevice;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** A disk that does what a {@link DiskControl} says, and otherwise what the one under it does. */
final class FaultyDisk implements SsdDevice {
  private static final int EIO = 5;
  private static final int ENOSPC = 28;
  private static final long HANG_NAP_NANOS = 10_000_000;

  private record Operation(
      boolean read, int file, long fileOffset, long poolOffset, int bytes, long token) {}

  private record Result(long token, int result) {}

  private final SsdDevice disk;
  private final DiskControl control;

  /** Asked for while the disk hung. */
  private final ArrayDeque<Operation> held = new ArrayDeque<>();

  /** Ended without the disk. */
  private final ArrayDeque<Result> ended = new ArrayDeque<>();

  /** What is claimed of writes of which the disk gets half. */
  private final Map<Long, Integer> claimed = new HashMap<>();

  private long operations;

  FaultyDisk(SsdDevice disk, DiskControl control) {
    this.disk = disk;
    this.control = control;
  }

  @Override
  public int depth() {
    return disk.depth();
  }

  @Override
  public int inFlight() {
    return disk.inFlight() + held.size() + ended.size();
  }

  @Override
  public boolean read(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return begin(new Operation(true, file, fileOffset, poolOffset, bytes, token));
  }

  @Override
  public boolean write(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return begin(new Operation(false, file, fileOffset, poolOffset, bytes, token));
  }

  private boolean begin(Operation operation) {
    if (inFlight() >= depth()) {
      return false;
    }
    DiskFault fault = control.fault();
    if (fault == DiskFault.HANGS) {
      control.wentWrong();
      held.addLast(operation);
      return true;
    }
    boolean concerned = operation.read ? fault.concernsReads() : fault.concernsWrites();
    if (!concerned || ++operations % control.every() != 0) {
      return pass(operation, operation.bytes);
    }
    control.wentWrong();
    int half = operation.bytes / 2 & -ALIGNMENT_BYTES;
    return switch (fault) {
      case WRITES_FAIL, READS_FAIL -> end(operation, -EIO);
      case NO_SPACE -> end(operation, -ENOSPC);
      case LOST_WRITES -> end(operation, operation.bytes);
      case SHORT_READS, SHORT_WRITES -> half == 0 ? end(operation, 0) : pass(operation, half);
      case TORN_WRITES -> {
        if (half == 0) {
          yield end(operation, operation.bytes);
        }
        claimed.put(operation.token, operation.bytes);
        yield pass(operation, half);
      }
      case NONE, HANGS -> throw new IllegalStateException("nothing to do wrong");
    };
  }

  private boolean pass(Operation to, int bytes) {
    return to.read
        ? disk.read(to.file, to.fileOffset, to.poolOffset, bytes, to.token)
        : disk.write(to.file, to.fileOffset, to.poolOffset, bytes, to.token);
  }

  private boolean end(Operation operation, int result) {
    ended.addLast(new Result(operation.token, result));
    return true;
  }

  @Override
  public void flush() {
    disk.flush();
  }

  @Override
  public int poll(Completions sink) {
    if (control.fault() == DiskFault.HANGS) {
      return 0;
    }
    while (!held.isEmpty()) {
      Operation operation = held.removeFirst();
      if (!pass(operation, operation.bytes)) {
        throw new IllegalStateException("the disk takes fewer operations than its depth");
      }
    }
    disk.flush();
    int polled = 0;
    for (Result each; (each = ended.pollFirst()) != null; polled++) {
      sink.completed(each.token, each.result);
    }
    return polled + disk.poll((token, result) -> sink.completed(token, claim(token, result)));
  }

  private int claim(long token, int result) {
    Integer all = claimed.remove(token);
    return all == null || result < 0 ? result : all;
  }

  @Override
  public void await(long timeoutNanos) {
    if (control.fault() == DiskFault.HANGS) {
      LockSupport.parkNanos(Math.min(timeoutNanos, HANG_NAP_NANOS));
    } else if (ended.isEmpty() && held.isEmpty()) {
      disk.await(timeoutNanos);
    }
  }

  @Override
  public void wake() {
    disk.wake();
  }

  @Override
  public void close() {
    disk.close();
  }
}
