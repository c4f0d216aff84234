package io.orbitkv.core.ssd.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Disks in memory that do as a script says. Nothing happens by itself: an operation runs in the
 * {@link #poll} in which it ends, and not before, so that a pool range that was reused too early
 * shows as wrong bytes. Single-threaded but {@link #wake}; never sleeps.
 */
public final class FakeSsdDevice implements SsdDevice {
  /**
   * What was asked for.
   *
   * @param number counts all operations from 1
   */
  public record Operation(
      long number,
      boolean write,
      int file,
      long fileOffset,
      long poolOffset,
      int bytes,
      long token) {}

  /** What becomes of an operation. */
  public sealed interface Fate {
    /** It does all that was asked. */
    record Done() implements Fate {}

    /** It moves nothing and gives this errno. */
    record Failed(int errno) implements Fate {}

    /** It moves only so many bytes and says so. */
    record Part(int bytes) implements Fate {}

    /** It moves all bytes, the one at this place with its lowest bit flipped, and says nothing. */
    record Flipped(int at) implements Fate {}

    /** A write of which only so many bytes reach the disk, and that says that all did. */
    record Torn(int bytes) implements Fate {}

    /** It ends as said, so many polls later than it would have. */
    record Delayed(int polls, Fate then) implements Fate {}

    /** It ends as said, after {@link #release}. */
    record Hung(Fate then) implements Fate {}
  }

  private static final class Pending {
    final Operation operation;
    Fate fate;
    boolean flushed;

    Pending(Operation operation, Fate fate) {
      this.operation = operation;
      this.fate = fate;
    }
  }

  private final byte[][] files;
  private final MemorySegment pool;
  private final int depth;
  private final List<Pending> pending = new ArrayList<>();
  private final List<Operation> history = new ArrayList<>();
  private Function<Operation, Fate> script = _ -> new Fate.Done();
  private @Nullable RandomGenerator order;
  private volatile int wakes;
  private boolean closed;

  /**
   * @param fileBytes each file's length, all zero at first
   */
  public FakeSsdDevice(int files, int fileBytes, MemorySegment pool, int depth) {
    this.files = new byte[files][fileBytes];
    this.pool = pool;
    this.depth = depth;
  }

  /** Decides on every operation that is queued from now on. */
  public void script(Function<Operation, Fate> newScript) {
    script = newScript;
  }

  /** Lets operations end in an order drawn from this; null for the order in which they came. */
  public void order(@Nullable RandomGenerator random) {
    order = random;
  }

  /** Lets everything that hangs go on. */
  public void release() {
    for (Pending each : pending) {
      if (each.fate instanceof Fate.Hung(Fate then)) {
        each.fate = then;
      }
    }
  }

  /** All operations that were accepted, in order. */
  public List<Operation> history() {
    return List.copyOf(history);
  }

  /** The bytes on a disk, to look at or to damage. */
  public byte[] file(int file) {
    return files[file];
  }

  public int wakes() {
    return wakes;
  }

  @Override
  public int depth() {
    return depth;
  }

  @Override
  public int inFlight() {
    return pending.size();
  }

  @Override
  public boolean read(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return queue(false, file, fileOffset, poolOffset, bytes, token);
  }

  @Override
  public boolean write(int file, long fileOffset, long poolOffset, int bytes, long token) {
    return queue(true, file, fileOffset, poolOffset, bytes, token);
  }

  @Override
  public void flush() {
    pending.forEach(each -> each.flushed = true);
  }

  @Override
  public int poll(Completions sink) {
    List<Pending> ready = new ArrayList<>();
    for (Iterator<Pending> each = pending.iterator(); each.hasNext(); ) {
      Pending next = each.next();
      if (!next.flushed || next.fate instanceof Fate.Hung) {
        continue;
      }
      if (next.fate instanceof Fate.Delayed(int polls, Fate then)) {
        next.fate = polls <= 1 ? then : new Fate.Delayed(polls - 1, then);
      } else {
        each.remove();
        ready.add(next);
      }
    }
    RandomGenerator random = order;
    for (int i = ready.size() - 1; random != null && i > 0; i--) {
      ready.set(i, ready.set(random.nextInt(i + 1), ready.get(i)));
    }
    for (Pending each : ready) {
      sink.completed(each.operation.token(), run(each.operation, each.fate));
    }
    return ready.size();
  }

  @Override
  public void await(long timeoutNanos) {
    flush();
  }

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // A count for tests with one waking thread.
  public void wake() {
    wakes++;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    for (int polls = 0; polls < 1_000 && !pending.isEmpty(); polls++) {
      flush();
      poll((_, _) -> {});
    }
    if (!pending.isEmpty()) {
      long[] tokens = pending.stream().mapToLong(each -> each.operation.token()).toArray();
      throw new IllegalStateException(
          tokens.length + " operations in flight, tokens " + Arrays.toString(tokens));
    }
    closed = true;
  }

  private boolean queue(
      boolean write, int file, long fileOffset, long poolOffset, int bytes, long token) {
    boolean fits =
        file >= 0
            && file < files.length
            && bytes > 0
            && bytes <= MAX_BYTES
            && fileOffset >= 0
            && fileOffset + bytes <= files[file].length
            && poolOffset >= 0
            && poolOffset + bytes <= pool.byteSize()
            && (fileOffset | poolOffset | bytes) % ALIGNMENT_BYTES == 0;
    if (!fits || closed) {
      throw new IllegalArgumentException(
          "no operation: file %d at %d, pool at %d, %d bytes"
              .formatted(file, fileOffset, poolOffset, bytes));
    }
    if (pending.size() == depth) {
      return false;
    }
    Operation operation =
        new Operation(history.size() + 1L, write, file, fileOffset, poolOffset, bytes, token);
    history.add(operation);
    pending.add(new Pending(operation, script.apply(operation)));
    return true;
  }

  private int run(Operation operation, Fate fate) {
    return switch (fate) {
      case Fate.Done _ -> move(operation, operation.bytes());
      case Fate.Failed failed -> -failed.errno();
      case Fate.Part part -> move(operation, part.bytes());
      case Fate.Torn part -> {
        move(operation, part.bytes());
        yield operation.bytes();
      }
      case Fate.Flipped flipped -> {
        int moved = move(operation, operation.bytes());
        target(operation)
            .set(ValueLayout.JAVA_BYTE, flipped.at(), flip(target(operation), flipped.at()));
        yield moved;
      }
      case Fate.Delayed _, Fate.Hung _ -> throw new AssertionError("not ended: " + fate);
    };
  }

  private static byte flip(MemorySegment memory, int at) {
    return (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 1);
  }

  private MemorySegment target(Operation operation) {
    return operation.write() ? onDisk(operation) : inPool(operation);
  }

  private int move(Operation operation, int bytes) {
    MemorySegment from = operation.write() ? inPool(operation) : onDisk(operation);
    MemorySegment.copy(from, 0, target(operation), 0, bytes);
    return bytes;
  }

  private MemorySegment onDisk(Operation operation) {
    return MemorySegment.ofArray(files[operation.file()])
        .asSlice(operation.fileOffset(), operation.bytes());
  }

  private MemorySegment inPool(Operation operation) {
    return pool.asSlice(operation.poolOffset(), operation.bytes());
  }
}
