package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * One io_uring: a queue of requests and a queue of completions that the kernel shares with this
 * process by two mappings.
 *
 * <p>The protocol is the kernel's. This side owns the tail of the submission queue and the head of
 * the completion queue and publishes both with a release store, after it wrote the entry or was
 * done with reading it; the kernel owns the other two, which are read with acquire.
 *
 * <pre>
 *   submission queue: 64-byte entries, opcode 0, flags 1, fd 4, file offset 8, address 16,
 *                     length 24, poll events 28, user data 32, buffer index 40
 *   completion queue: 16-byte entries, user data 0, result 8, flags 12
 * </pre>
 *
 * <p>{@link #open} asks for a ring that belongs to one thread and runs its completions only when
 * that thread enters the kernel, and takes less from older kernels. One thread uses it, the first
 * that submits; before that another may open it and register files and buffers.
 */
public final class UringRing implements AutoCloseable {
  /** Told of each completion. */
  @FunctionalInterface
  public interface Sink {
    /**
     * A request has ended.
     *
     * @param result what the system call of the same name would return, or a negative errno
     */
    void completed(long userData, int result);
  }

  private static final VarHandle INT = JAVA_INT.varHandle().withInvokeExactBehavior();

  private static final long OFFSET_SQES = 0x10000000L;
  private static final int ENTRY_BYTES = 64;
  private static final int COMPLETION_BYTES = 16;

  private static final byte READ_FIXED = 4;
  private static final byte WRITE_FIXED = 5;
  private static final byte POLL_ADD = 6;
  private static final byte READ = 22;
  private static final byte WRITE = 23;
  private static final byte FIXED_FILE = 1;
  private static final int TASK_WORK_WAITS = 4;
  private static final int SPARSE = 1;

  private static final int GETEVENTS_BYTES = 24;
  private static final long TRIAL_NANOS = 2_000_000_000L;

  private final OwnedFd descriptor;
  private final UringSetup setup;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment rings;
  private final MemorySegment entries;
  private final MemorySegment waitArgument;
  private final MemorySegment timeout;
  private final MemorySegment update;
  private final MemorySegment vector;

  private final int submissionMask;
  private final int completionMask;
  private int submissionTail;
  private int completionHead;
  private boolean enabled;
  private boolean closed;

  private UringRing(OwnedFd descriptor, UringSetup setup, long ringAddress, long entryAddress) {
    this.descriptor = descriptor;
    this.setup = setup;
    this.rings = mapped(ringAddress, setup.ringBytes());
    this.entries = mapped(entryAddress, (long) setup.submissionEntries() * ENTRY_BYTES);
    this.submissionMask = setup.submissionEntries() - 1;
    this.completionMask = setup.completionEntries() - 1;
    this.enabled = !setup.startsDisabled();
    this.waitArgument = arena.allocate(GETEVENTS_BYTES, 8);
    this.timeout = arena.allocate(16, 8);
    this.update = arena.allocate(32, 8);
    this.vector = arena.allocate(16, 8);
    waitArgument.set(JAVA_LONG, 16, timeout.address());
    for (int i = 0; i < setup.submissionEntries(); i++) {
      rings.set(JAVA_INT, setup.submissionArray() + 4L * i, i);
    }
  }

  /**
   * Makes a ring.
   *
   * @param requests how many are queued or in flight at a time, 1 to 32768; rounded up to a power
   *     of two
   * @throws NativeException ENOSYS without io_uring in the kernel; EPERM or EACCES where a seccomp
   *     profile or a sysctl forbids it; ENOMEM for want of lockable memory; EOPNOTSUPP from a
   *     kernel before 5.11
   */
  public static UringRing open(int requests) throws NativeException {
    UringSetup setup = UringSetup.make(requests);
    OwnedFd descriptor = setup.descriptor();
    long ringAddress = 0;
    try {
      ringAddress = map(descriptor, setup.ringBytes(), 0);
      long entryBytes = (long) setup.submissionEntries() * ENTRY_BYTES;
      return new UringRing(
          descriptor, setup, ringAddress, map(descriptor, entryBytes, OFFSET_SQES));
    } catch (NativeException failed) {
      if (ringAddress != 0) {
        unmap(ringAddress, setup.ringBytes());
      }
      descriptor.close();
      throw failed;
    }
  }

  /**
   * Finds out whether rings work here: makes one, runs a request through it and closes it. A
   * seccomp profile may allow one of the system calls and forbid another.
   *
   * @return the names of the setup flags that the kernel took
   * @throws NativeException as {@link #open}, for any of the calls
   */
  public static List<String> tryOut() throws NativeException {
    try (UringRing ring = open(1)) {
      ring.nextEntry();
      ring.submissionTail++;
      ring.enterOrThrow(ring.publish(), 1, TRIAL_NANOS);
      if (!ring.hasCompletion()) {
        throw new NativeException("io_uring_enter", Errno.ETIMEDOUT, "no completion of a no-op");
      }
      return ring.flags();
    }
  }

  /** The names of the setup flags that the kernel took, for a log. */
  public List<String> flags() {
    return setup.flagNames();
  }

  /** How many requests fit. */
  public int capacity() {
    return setup.submissionEntries();
  }

  /**
   * Registers files, so that a request names one by its place in the list and the kernel need not
   * look its descriptor up. They stay open with the ring.
   */
  public void registerFiles(List<OwnedFd> files) throws NativeException {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment numbers = call.allocate(JAVA_INT, files.size());
      for (int i = 0; i < files.size(); i++) {
        numbers.setAtIndex(JAVA_INT, i, files.get(i).fd());
      }
      verifyRegister(UringCalls.REGISTER_FILES, numbers, files.size(), files.size() + " files");
    }
  }

  /**
   * Makes an empty table of buffers.
   *
   * @param count places, 1 to 16384
   * @throws NativeException EINVAL from a kernel before 5.19
   */
  public void makeBufferTable(int count) throws NativeException {
    update.fill((byte) 0);
    update.set(JAVA_INT, 0, count);
    update.set(JAVA_INT, 4, SPARSE);
    verifyRegister(UringCalls.REGISTER_BUFFERS2, update, 32, count + " buffers");
  }

  /**
   * Pins a range of memory into a place of the table, which brings its pages in. It must stay
   * mapped until the ring is closed. Once requests were submitted, only their thread may call this.
   *
   * @param buffer at most 1 GiB
   * @throws NativeException ENOMEM beyond RLIMIT_MEMLOCK
   */
  public void registerBuffer(int index, MemorySegment buffer) throws NativeException {
    vector.set(JAVA_LONG, 0, buffer.address());
    vector.set(JAVA_LONG, 8, buffer.byteSize());
    update.fill((byte) 0);
    update.set(JAVA_INT, 0, index);
    update.set(JAVA_LONG, 8, vector.address());
    update.set(JAVA_INT, 24, 1);
    verifyRegister(
        UringCalls.REGISTER_BUFFERS_UPDATE, update, 32, buffer.byteSize() + " bytes as a buffer");
  }

  /** Queues a read into any memory. The caller counts: {@link #capacity} must not be exceeded. */
  public void read(int file, long fileOffset, long address, int bytes, long userData) {
    transfer(READ, 0, file, fileOffset, address, bytes, userData);
  }

  /** Queues a read into memory that lies within one registered buffer. */
  public void readFixed(
      int buffer, int file, long fileOffset, long address, int bytes, long userData) {
    transfer(READ_FIXED, buffer, file, fileOffset, address, bytes, userData);
  }

  /** Queues a write from any memory. */
  public void write(int file, long fileOffset, long address, int bytes, long userData) {
    transfer(WRITE, 0, file, fileOffset, address, bytes, userData);
  }

  /** Queues a write from memory that lies within one registered buffer. */
  public void writeFixed(
      int buffer, int file, long fileOffset, long address, int bytes, long userData) {
    transfer(WRITE_FIXED, buffer, file, fileOffset, address, bytes, userData);
  }

  /** Queues a request that ends, once, when a descriptor can be read. */
  public void pollReadable(OwnedFd readable, long userData) {
    long at = nextEntry();
    entries.set(JAVA_BYTE, at, POLL_ADD);
    entries.set(JAVA_INT, at + 4, readable.fd());
    entries.set(JAVA_INT, at + 28, PollCalls.POLLIN);
    entries.set(JAVA_LONG, at + 32, userData);
    submissionTail++;
  }

  /** How many requests are queued and not yet taken by the kernel. */
  public int queued() {
    return submissionTail - (int) INT.getAcquire(rings, setup.submissionHead());
  }

  /**
   * Gives what is queued to the kernel, in one call. What the kernel has no memory for now stays
   * queued.
   */
  public void submit() {
    int queued = publish();
    if (queued > 0) {
      enter(queued, 0, 0);
    }
  }

  /**
   * Like {@link #submit}, and sleeps until a completion is there.
   *
   * @param timeoutNanos how long at most; 0 or less does not sleep
   */
  public void submitAndWait(long timeoutNanos) {
    if (timeoutNanos <= 0 || hasCompletion()) {
      submit();
    } else {
      enter(publish(), 1, timeoutNanos);
    }
  }

  /** Whether a completion is there. */
  public boolean hasCompletion() {
    return completionHead != (int) INT.getAcquire(rings, setup.completionTail());
  }

  /**
   * Tells of the completions that are there; enters the kernel only if it holds some back.
   *
   * @return how many
   */
  public int poll(Sink sink) {
    if (!hasCompletion() && taskWorkWaits()) {
      enter(0, 0, 0);
    }
    int tail = (int) INT.getAcquire(rings, setup.completionTail());
    int count = 0;
    while (completionHead != tail) {
      long at = setup.completions() + (long) (completionHead & completionMask) * COMPLETION_BYTES;
      long userData = rings.get(JAVA_LONG, at);
      int result = rings.get(JAVA_INT, at + 8);
      completionHead++;
      INT.setRelease(rings, setup.completionHead(), completionHead);
      count++;
      sink.completed(userData, result);
    }
    return count;
  }

  /**
   * Closes the ring. Requests in flight go on in the kernel, which keeps the memory that they touch
   * but not its mapping: close it when all have ended.
   */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      descriptor.close();
      arena.close();
    }
  }

  private void transfer(
      byte opcode, int buffer, int file, long fileOffset, long address, int bytes, long userData) {
    long at = nextEntry();
    entries.set(JAVA_BYTE, at, opcode);
    entries.set(JAVA_BYTE, at + 1, FIXED_FILE);
    entries.set(JAVA_INT, at + 4, file);
    entries.set(JAVA_LONG, at + 8, fileOffset);
    entries.set(JAVA_LONG, at + 16, address);
    entries.set(JAVA_INT, at + 24, bytes);
    entries.set(JAVA_LONG, at + 32, userData);
    entries.set(JAVA_SHORT, at + 40, (short) buffer);
    submissionTail++;
  }

  /** The offset of the next free entry, zeroed. */
  private long nextEntry() {
    if (queued() > submissionMask) {
      throw new IllegalStateException("more than " + capacity() + " requests queued");
    }
    long at = (long) (submissionTail & submissionMask) * ENTRY_BYTES;
    for (int i = 0; i < ENTRY_BYTES; i += 8) {
      entries.set(JAVA_LONG, at + i, 0L);
    }
    return at;
  }

  private int publish() {
    INT.setRelease(rings, setup.submissionTail(), submissionTail);
    return queued();
  }

  private boolean taskWorkWaits() {
    return ((int) INT.getAcquire(rings, setup.submissionFlags()) & TASK_WORK_WAITS) != 0;
  }

  /** Like {@link #enterOrThrow} after a trial has shown that the calls are allowed. */
  private void enter(int queued, int minComplete, long timeoutNanos) {
    try {
      enterOrThrow(queued, minComplete, timeoutNanos);
    } catch (NativeException broken) {
      throw new IllegalStateException(broken);
    }
  }

  private void enterOrThrow(int queued, int minComplete, long timeoutNanos) throws NativeException {
    if (!enabled) {
      // The thread that does this is the one that the ring belongs to.
      verifyRegister(UringCalls.REGISTER_ENABLE_RINGS, MemorySegment.NULL, 0, "to enable a ring");
      enabled = true;
    }
    int flags = UringCalls.ENTER_GETEVENTS;
    MemorySegment argument = MemorySegment.NULL;
    long argumentBytes = 0;
    if (minComplete > 0) {
      timeout.set(JAVA_LONG, 0, timeoutNanos / 1_000_000_000L);
      timeout.set(JAVA_LONG, 8, timeoutNanos % 1_000_000_000L);
      flags |= UringCalls.ENTER_EXT_ARG;
      argument = waitArgument;
      argumentBytes = GETEVENTS_BYTES;
    }
    int result =
        UringCalls.enter(descriptor.fd(), queued, minComplete, flags, argument, argumentBytes);
    if (result < 0 && !mayBeRepeated(result)) {
      throw new NativeException("io_uring_enter", Errno.of(-result), queued + " requests");
    }
  }

  /** Whether an enter that failed so may simply be repeated later. */
  private static boolean mayBeRepeated(int result) {
    return result == -Errno.ETIME.number()
        || result == -Errno.EINTR.number()
        || result == -Errno.EAGAIN.number()
        || result == -Errno.EBUSY.number()
        || result == -Errno.ENOMEM.number();
  }

  private void verifyRegister(int what, MemorySegment argument, int count, String subject)
      throws NativeException {
    NativeException.verify(
        "io_uring_register", UringCalls.register(descriptor.fd(), what, argument, count), subject);
  }

  private MemorySegment mapped(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> unmap(address, bytes));
  }

  private static long map(OwnedFd descriptor, long bytes, long offset) throws NativeException {
    return NativeException.check(
        "mmap",
        MemoryCalls.mmap(
            bytes,
            MemoryCalls.PROT_READ | MemoryCalls.PROT_WRITE,
            MemoryCalls.MAP_SHARED | MemoryCalls.MAP_POPULATE,
            descriptor.fd(),
            offset),
        bytes + " bytes of a ring");
  }

  private static void unmap(long address, long bytes) {
    int result = MemoryCalls.munmap(address, bytes);
    if (result < 0) {
      throw new IllegalStateException("munmap: " + Errno.of(-result));
    }
  }
}
