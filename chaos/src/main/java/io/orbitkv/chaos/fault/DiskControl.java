package io.orbitkv.chaos.fault;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a disk is to do wrong from now on, and how often it did: a small mapped file through which a
 * suite commands the {@link FaultyDisk} of a daemon in another process while that runs.
 *
 * <pre>
 *   0  fault     i32, number of a {@link DiskFault}
 *   4  every     i32, each so many-th operation of the kind, 1 for all
 *   8  injected  i64, operations that went wrong
 * </pre>
 */
public final class DiskControl {
  private static final int BYTES = 16;
  private static final VarHandle FAULT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle INJECTED = ValueLayout.JAVA_LONG.varHandle();

  private final Path path;
  private final MemorySegment block;

  private DiskControl(Path path, MemorySegment block) {
    this.path = path;
    this.block = block;
  }

  /** Maps the file, which is made if it is not there; it stays mapped as long as it is used. */
  public static DiskControl open(Path path) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new DiskControl(
          path, file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.ofAuto()));
    }
  }

  /** One that nobody changes. */
  static DiskControl fixed(DiskFault fault, int every) {
    DiskControl control = new DiskControl(Path.of(""), Arena.ofAuto().allocate(BYTES, Long.BYTES));
    control.set(fault, every);
    return control;
  }

  /** Where the file is. */
  public Path path() {
    return path;
  }

  /** From now on each {@code every}-th operation of its kind goes wrong so. */
  public void set(DiskFault fault, int every) {
    FAULT.setVolatile(block, 4L, every);
    FAULT.setVolatile(block, 0L, fault.number());
  }

  /** How many operations went wrong since the file was made. */
  public long injected() {
    return (long) INJECTED.getVolatile(block, 8L);
  }

  DiskFault fault() {
    return DiskFault.of((int) FAULT.getVolatile(block, 0L));
  }

  int every() {
    return Math.max(1, (int) FAULT.getVolatile(block, 4L));
  }

  void wentWrong() {
    long _ = (long) INJECTED.getAndAdd(block, 8L, 1L);
  }
}
