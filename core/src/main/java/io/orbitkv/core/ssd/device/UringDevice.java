package io.orbitkv.core.ssd.device;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.UringRing;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Goes through an io_uring: a small batch of operations is one system call, and sleeping for a
 * completion is the same call.
 *
 * <p>The pool is registered with the ring in pieces, so that the kernel need not pin the pages of
 * each operation. That brings every page of the pool in, which takes some seconds for tens of GiB,
 * so it is not done at the start: {@link #await} registers one piece whenever nothing is in flight,
 * and an operation on a piece that is not registered yet, or across two, goes the ordinary way.
 * Where the limit of locked memory ends it, the rest stays ordinary and {@link #registeredBytes}
 * and {@link #registrationRefusal} say so.
 *
 * <p>{@link #wake} writes to an eventfd for which a poll request waits in the ring, but only if the
 * owner sleeps.
 */
public final class UringDevice implements SsdDevice {
  /**
   * So much is submitted without waiting for a flush. The disk starts on a batch only when all of
   * it has been prepared, so one large batch leaves it idle meanwhile (0.85 of the rate at depth
   * 32), and one call for each operation costs a third more CPU.
   */
  private static final int BATCH_OPERATIONS = 8;

  private static final int BATCH_BYTES = 1 << 20;

  private static final int MAX_PIECES = 16_384;
  private static final int MIN_PIECE_SHIFT = 25;
  private static final long WAKE = -1;
  private static final long DRAIN_NANOS = 5_000_000_000L;

  private final UringRing ring;
  private final EventFd doorbell;
  private final WakeFlag wakeFlag = new WakeFlag();
  private final MemorySegment pool;
  private final long poolAddress;
  private final Bounds bounds;
  private final Slots slots;
  private final int pieceShift;
  private volatile int registeredPieces;
  private volatile String registrationRefusal = "";
  private int queued;
  private int queuedBytes;
  private boolean mayRegister;
  private boolean doorbellArmed;
  private boolean closed;

  /** One object for all polls, and what it hands on to. */
  private final UringRing.Sink onCompletion = this::completed;

  private Completions current = (_, _) -> {};
  private int ended;

  private UringDevice(
      UringRing ring, EventFd doorbell, MemorySegment pool, Bounds bounds, int depth) {
    this.ring = ring;
    this.doorbell = doorbell;
    this.pool = pool;
    this.poolAddress = pool.address();
    this.bounds = bounds;
    this.slots = new Slots(depth);
    int shift = MIN_PIECE_SHIFT;
    while (Math.ceilDiv(pool.byteSize(), 1L << shift) > MAX_PIECES) {
      shift++;
    }
    this.pieceShift = shift;
  }

  /**
   * Makes a ring and registers the files with it.
   *
   * @param files stay open until the device is closed, and belong to the caller
   * @param pool mapped at a multiple of 4096 until the device is closed
   * @param depth 1 to 4096
   * @throws NativeException if the kernel, a seccomp profile or a limit refuses a ring
   */
  public static UringDevice open(List<DiskFile> files, MemorySegment pool, int depth)
      throws NativeException {
    Bounds bounds = new Bounds(files, pool);
    UringRing.tryOut();
    UringRing ring = UringRing.open(depth + 1);
    try {
      ring.registerFiles(files.stream().map(DiskFile::descriptor).toList());
      UringDevice device = new UringDevice(ring, EventFd.create(), pool, bounds, depth);
      device.makeBufferTable();
      return device;
    } catch (NativeException refused) {
      ring.close();
      throw refused;
    }
  }

  @Override
  public int depth() {
    return slots.depth();
  }

  @Override
  public int inFlight() {
    return slots.inFlight();
  }

  /** The setup flags that the kernel took, for a log. */
  public List<String> flags() {
    return ring.flags();
  }

  /** How much of the pool, from its start, is registered by now. Any thread may ask. */
  public long registeredBytes() {
    return Math.min(pool.byteSize(), (long) registeredPieces << pieceShift);
  }

  /** Why the rest will not be registered; empty if nothing was refused. Any thread may ask. */
  public String registrationRefusal() {
    return registrationRefusal;
  }

  /**
   * Registers the next piece of the pool.
   *
   * @return whether it did; false if all is registered or the rest is refused
   */
  public boolean registerNext() {
    int next = registeredPieces;
    long from = (long) next << pieceShift;
    if (!mayRegister || from >= pool.byteSize()) {
      return false;
    }
    MemorySegment piece = pool.asSlice(from, Math.min(1L << pieceShift, pool.byteSize() - from));
    try {
      ring.registerBuffer(next, piece);
      registeredPieces = next + 1;
      return true;
    } catch (NativeException refused) {
      refuseRegistration(refused);
      return false;
    }
  }

  @Override
  public boolean read(int file, long fileOffset, long poolOffset, int bytes, long token) {
    bounds.check(file, fileOffset, poolOffset, bytes);
    int slot = slots.take(token);
    if (slot < 0) {
      return false;
    }
    int buffer = bufferOf(poolOffset, bytes);
    if (buffer < 0) {
      ring.read(file, fileOffset, poolAddress + poolOffset, bytes, slot);
    } else {
      ring.readFixed(buffer, file, fileOffset, poolAddress + poolOffset, bytes, slot);
    }
    submitIfEnough(bytes);
    return true;
  }

  @Override
  public boolean write(int file, long fileOffset, long poolOffset, int bytes, long token) {
    bounds.check(file, fileOffset, poolOffset, bytes);
    int slot = slots.take(token);
    if (slot < 0) {
      return false;
    }
    int buffer = bufferOf(poolOffset, bytes);
    if (buffer < 0) {
      ring.write(file, fileOffset, poolAddress + poolOffset, bytes, slot);
    } else {
      ring.writeFixed(buffer, file, fileOffset, poolAddress + poolOffset, bytes, slot);
    }
    submitIfEnough(bytes);
    return true;
  }

  @Override
  public void flush() {
    queued = 0;
    queuedBytes = 0;
    ring.submit();
  }

  private void submitIfEnough(int bytes) {
    queued++;
    queuedBytes += bytes;
    if (queued == BATCH_OPERATIONS || queuedBytes >= BATCH_BYTES) {
      flush();
    }
  }

  @Override
  public int poll(Completions sink) {
    int before = ended;
    current = sink;
    ring.poll(onCompletion);
    return ended - before;
  }

  private void completed(long userData, int result) {
    if (userData == WAKE) {
      doorbellArmed = false;
    } else {
      ended++;
      current.completed(slots.release((int) userData), result);
    }
  }

  @Override
  public void await(long timeoutNanos) {
    if (timeoutNanos <= 0 || (inFlight() == 0 && registerNext())) {
      flush();
      return;
    }
    if (!doorbellArmed) {
      arm();
    }
    if (wakeFlag.beginSleep()) {
      queued = 0;
      queuedBytes = 0;
      ring.submitAndWait(timeoutNanos);
      wakeFlag.endSleep();
    } else {
      flush();
    }
  }

  @Override
  public void wake() {
    if (wakeFlag.wake()) {
      try {
        doorbell.signal();
      } catch (NativeException broken) {
        throw new IllegalStateException(broken);
      }
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    mayRegister = false;
    long deadline = System.nanoTime() + DRAIN_NANOS;
    for (long left = DRAIN_NANOS; inFlight() > 0 && left > 0; left = deadline - System.nanoTime()) {
      await(left);
      poll((_, _) -> {});
    }
    if (inFlight() > 0) {
      throw new IllegalStateException(slots.describe());
    }
    closed = true;
    ring.close();
    doorbell.close();
  }

  /** Signals that nobody waits for are taken away before a sleep begins, never after. */
  private void arm() {
    try {
      doorbell.drain();
    } catch (NativeException broken) {
      throw new IllegalStateException(broken);
    }
    ring.pollReadable(doorbell.descriptor(), WAKE);
    doorbellArmed = true;
  }

  private void makeBufferTable() {
    try {
      ring.makeBufferTable((int) Math.ceilDiv(pool.byteSize(), 1L << pieceShift));
      mayRegister = true;
      registerNext();
    } catch (NativeException refused) {
      refuseRegistration(refused);
    }
  }

  private void refuseRegistration(NativeException refused) {
    mayRegister = false;
    registrationRefusal =
        refused.is(Errno.ENOMEM)
            ? refused.getMessage() + "; raise RLIMIT_MEMLOCK (ulimit -l) to the size of the pool"
            : String.valueOf(refused.getMessage());
  }

  /** The registered piece that holds a range, -1 if none holds it whole. */
  private int bufferOf(long poolOffset, int bytes) {
    int piece = (int) (poolOffset >>> pieceShift);
    return piece < registeredPieces && (poolOffset + bytes - 1) >>> pieceShift == piece
        ? piece
        : -1;
  }
}
