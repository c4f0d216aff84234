package io.orbitkv.chaos.sim;

import io.orbitkv.core.ssd.device.Completions;
import io.orbitkv.core.ssd.device.SsdDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A disk whose operations end when the schedule says, in the order it says and as it says. Its
 * bytes outlive the process; a write that was under way when the process died is on it in part.
 */
final class SimDisk {
  static final int HEADER_BYTES = SsdDevice.ALIGNMENT_BYTES;

  private static final int DEPTH = 6;
  private static final int SECTOR_BYTES = 512;
  private static final int EIO = 5;
  private static final int ENOSPC = 28;

  /** Told of what operations touch. */
  interface Witness {
    /** A range of the pool that an operation may touch from now on, or has just touched. */
    void pool(long offset, int bytes);

    void begins(boolean read, int file, long offset, int bytes);

    /**
     * An operation has ended.
     *
     * @param moved bytes from the first on that it says to have moved
     */
    void ended(boolean read, int file, long offset, int bytes, int moved);
  }

  private final MemorySegment[] files;
  private final World.Tier tier;
  private final SimClock clock;
  private final Tally tally;

  /** Until when nothing ends, and until when no write finds room; monotonic clock. */
  private long hangsUntilMicros;

  private long fullUntilMicros;

  /** A disk with a header in each file. */
  SimDisk(Arena arena, World.Tier tier, SimClock clock, Tally tally) {
    this.files = new MemorySegment[tier.files()];
    for (int file = 0; file < files.length; file++) {
      files[file] = arena.allocate(fileBytes(tier), SsdDevice.ALIGNMENT_BYTES);
      files[file].fill((byte) 0xD5);
    }
    this.tier = tier;
    this.clock = clock;
    this.tally = tally;
  }

  static int fileBytes(World.Tier tier) {
    return HEADER_BYTES + tier.extents() * SsdDevice.ALIGNMENT_BYTES;
  }

  long[] fileBytes() {
    long[] bytes = new long[files.length];
    for (int file = 0; file < files.length; file++) {
      bytes[file] = files[file].byteSize();
    }
    return bytes;
  }

  /** Flips a bit somewhere behind the headers. */
  void flipBit(Draws draws) {
    MemorySegment file = files[draws.below(files.length)];
    // Extents begin at multiples of 4 KiB, and what is stored of a small block lies at their start.
    int extents = (int) (file.byteSize() / SsdDevice.ALIGNMENT_BYTES) - 1;
    long at = (1L + draws.below(extents)) * SsdDevice.ALIGNMENT_BYTES + draws.below(160);
    byte old = file.get(ValueLayout.JAVA_BYTE, at);
    file.set(ValueLayout.JAVA_BYTE, at, (byte) (old ^ (1 << draws.below(8))));
    tally.add(Tally.Count.DISK_FLIPS);
  }

  /** From now on nothing ends for some time. */
  void hang(long millis) {
    hangsUntilMicros = clock.monotonicMicros() + millis * 1_000;
    tally.add(Tally.Count.HANGS);
  }

  /** From now on no write finds room for some time. */
  void fill(long millis) {
    fullUntilMicros = clock.monotonicMicros() + millis * 1_000;
  }

  /** All is well again. */
  void heal() {
    hangsUntilMicros = 0;
    fullUntilMicros = 0;
  }

  private boolean hangs() {
    return clock.monotonicMicros() < hangsUntilMicros;
  }

  private boolean full() {
    return clock.monotonicMicros() < fullUntilMicros;
  }

  /** The disk as one process opened it. */
  Opened open(MemorySegment pool, Witness witness) {
    return new Opened(pool, witness);
  }

  private record Operation(
      boolean read, int file, long fileOffset, long poolOffset, int bytes, long token) {}

  private record Result(long token, int result) {}

  /** The operations of one process. */
  final class Opened implements SsdDevice {
    private final MemorySegment pool;
    private final Witness witness;
    private final List<Operation> running = new ArrayList<>();
    private final ArrayDeque<Result> ended = new ArrayDeque<>();

    /** When an operation last ended, monotonic clock. */
    long lastEndMicros;

    /** Writes that were told that there is no room, and operations that otherwise failed. */
    int refusedWrites;

    int failures;
    int writesDone;

    Opened(MemorySegment pool, Witness witness) {
      this.pool = pool;
      this.witness = witness;
    }

    @Override
    public int depth() {
      return DEPTH;
    }

    @Override
    public int inFlight() {
      return running.size() + ended.size();
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
      if (inFlight() == DEPTH) {
        return false;
      }
      long offset = operation.fileOffset();
      int bytes = operation.bytes();
      Violation.require(
          offset >= HEADER_BYTES
              && (offset | operation.poolOffset() | bytes) % ALIGNMENT_BYTES == 0
              && bytes > 0
              && offset + bytes <= files[operation.file()].byteSize(),
          Rule.INVARIANT,
          () -> "an operation of %d bytes at %d".formatted(bytes, offset));
      witness.pool(operation.poolOffset(), bytes);
      witness.begins(operation.read(), operation.file(), offset, bytes);
      tally.add(operation.read() ? Tally.Count.READS : Tally.Count.WRITES);
      running.add(operation);
      return true;
    }

    /** Ends one operation, if there is one and the disk does not hang. */
    void end(Draws draws) {
      if (!running.isEmpty() && !hangs()) {
        end(running.remove(draws.below(running.size())), draws);
      }
    }

    private void end(Operation operation, Draws draws) {
      witness.pool(operation.poolOffset(), operation.bytes());
      int result;
      if (!operation.read() && full()) {
        result = noRoom();
      } else if (tier.faulty() && draws.oneIn(12)) {
        result = fail(operation, draws);
      } else if (!operation.read() && tier.damage() && draws.oneIn(40)) {
        moveSome(operation, draws);
        tally.add(Tally.Count.LOST_SECTORS);
        result = operation.bytes();
      } else {
        move(operation, 0, operation.bytes());
        result = operation.bytes();
      }
      witness.ended(
          operation.read(),
          operation.file(),
          operation.fileOffset(),
          operation.bytes(),
          Math.max(0, result));
      lastEndMicros = clock.monotonicMicros();
      writesDone += !operation.read() && result == operation.bytes() ? 1 : 0;
      ended.add(new Result(operation.token(), result));
    }

    private int fail(Operation operation, Draws draws) {
      failures++;
      return switch (draws.below(operation.read() ? 3 : 4)) {
        case 0 -> {
          int moved = SECTOR_BYTES * draws.below(operation.bytes() / SECTOR_BYTES);
          move(operation, 0, moved);
          tally.add(Tally.Count.SHORT);
          yield moved;
        }
        case 1 -> {
          tally.add(Tally.Count.FAILED);
          yield -EIO;
        }
        case 2 -> {
          moveSome(operation, draws);
          tally.add(Tally.Count.TORN);
          yield -EIO;
        }
        default -> noRoom();
      };
    }

    private int noRoom() {
      refusedWrites++;
      tally.add(Tally.Count.NO_ROOM);
      return -ENOSPC;
    }

    private void moveSome(Operation operation, Draws draws) {
      for (int at = 0; at < operation.bytes(); at += SECTOR_BYTES) {
        if (draws.oneIn(2)) {
          move(operation, at, SECTOR_BYTES);
        }
      }
    }

    private void move(Operation operation, int from, int bytes) {
      MemorySegment inPool = pool.asSlice(operation.poolOffset() + from, bytes);
      MemorySegment onDisk = files[operation.file()].asSlice(operation.fileOffset() + from, bytes);
      (operation.read() ? inPool : onDisk).copyFrom(operation.read() ? onDisk : inPool);
    }

    /** The process dies: some sectors of what it was writing are on the disk. */
    void die(Draws draws) {
      for (Operation operation : running) {
        if (!operation.read()) {
          moveSome(operation, draws);
          tally.add(Tally.Count.CUT_OFF);
        }
      }
      running.clear();
    }

    @Override
    public void flush() {}

    @Override
    public int poll(Completions sink) {
      int polled = 0;
      for (Result result; (result = ended.poll()) != null; polled++) {
        sink.completed(result.token(), result.result());
      }
      return polled;
    }

    @Override
    public void await(long timeoutNanos) {}

    @Override
    public void wake() {}

    @Override
    public void close() {}
  }
}
