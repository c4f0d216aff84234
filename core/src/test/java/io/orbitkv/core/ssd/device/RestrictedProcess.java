package io.orbitkv.core.ssd.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * A process that takes something away from itself for good, then opens a device, writes, reads back
 * and prints what it got. Its arguments: a folder, a backend, and what to forbid: a system call's
 * number and an errno, {@code direct} and 22, or {@code memlock} and a limit.
 *
 * <p>The filter is a classic BPF program that looks at {@code struct seccomp_data}: the call's
 * number at 0, its third argument at 32. It holds for every thread of this process and for whatever
 * it starts.
 */
final class RestrictedProcess {
  private static final boolean X86_64 = System.getProperty("os.arch", "").equals("amd64");
  private static final int SYS_OPENAT = X86_64 ? 257 : 56;
  private static final int SYS_SECCOMP = X86_64 ? 317 : 277;
  private static final int SYS_CAPGET = X86_64 ? 125 : 90;
  private static final int SYS_CAPSET = X86_64 ? 126 : 91;
  private static final int O_DIRECT = X86_64 ? 0x4000 : 0x10000;

  private static final int SECCOMP_SET_MODE_FILTER = 1;
  private static final int SECCOMP_FILTER_FLAG_TSYNC = 1;
  private static final int PR_SET_NO_NEW_PRIVS = 38;
  private static final int RLIMIT_MEMLOCK = 8;
  private static final int CAPABILITY_VERSION_3 = 0x20080522;
  private static final int CAP_IPC_LOCK = 14;

  private static final short LOAD = 0x20;
  private static final short JUMP_IF_EQUAL = 0x15;
  private static final short JUMP_IF_BITS = 0x45;
  private static final short RETURN = 0x06;
  private static final int ALLOW = 0x7fff0000;
  private static final int FAIL_WITH = 0x00050000;

  private static final Linker LINKER = Linker.nativeLinker();

  private RestrictedProcess() {}

  public static void main(String[] arguments) throws Throwable {
    int number = Integer.parseInt(arguments[3]);
    switch (arguments[2]) {
      case "direct" -> forbidDirect(number);
      case "memlock" -> limitLockedMemory(number);
      default -> forbid(Integer.parseInt(arguments[2]), number);
    }
    SsdBackend backend = SsdBackend.parse(arguments[1]).orElseThrow();
    SsdFileSpec spec = new SsdFileSpec(Path.of(arguments[0]), 1 << 20);
    try (Mapping pool = Mapping.anonymous(1 << 20, MapOptions.READ_WRITE);
        SsdFiles files = value(SsdFiles.open(List.of(spec), new UUID(1, 2)))) {
      switch (SsdDevices.open(backend, files, pool.segment(), 4)) {
        case SsdOpening.Refused<OpenSsdDevice>(SsdRefusal refusal) ->
            System.out.println("refused " + refusal.cause() + ": " + refusal);
        case SsdOpening.Opened<OpenSsdDevice>(OpenSsdDevice opened) -> {
          System.out.println(opened.chosen() + ": " + opened.reason());
          opened.shortfalls().forEach(System.out::println);
          System.out.println(copies(opened.device(), pool.segment()));
          opened.device().close();
        }
      }
    }
  }

  private static <T> T value(SsdOpening<T> opening) {
    return switch (opening) {
      case SsdOpening.Opened<T>(T value) -> value;
      case SsdOpening.Refused<T>(SsdRefusal refusal) ->
          throw new IllegalStateException(refusal.toString());
    };
  }

  private static String copies(SsdDevice device, MemorySegment pool) {
    pool.asSlice(0, 8192).fill((byte) 7);
    device.write(0, 4096, 0, 8192, 1);
    int written = next(device);
    device.read(0, 4096, 16_384, 8192, 2);
    int read = next(device);
    boolean same = pool.asSlice(0, 8192).mismatch(pool.asSlice(16_384, 8192)) < 0;
    return "wrote %d, read %d, %s".formatted(written, read, same ? "equal" : "DIFFERENT");
  }

  private static int next(SsdDevice device) {
    int[] results = new int[1];
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (System.nanoTime() < deadline) {
      device.await(1_000_000_000L);
      if (device.poll((_, result) -> results[0] = result) > 0) {
        return results[0];
      }
    }
    throw new IllegalStateException("nothing ended within 10 s");
  }

  private static void forbid(int systemCall, int errno) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment program = arena.allocate(4 * 8, 4);
      put(program, 0, LOAD, 0, 0, 0);
      put(program, 1, JUMP_IF_EQUAL, 0, 1, systemCall);
      put(program, 2, RETURN, 0, 0, FAIL_WITH | errno);
      put(program, 3, RETURN, 0, 0, ALLOW);
      install(program, 4, arena);
    }
  }

  private static void forbidDirect(int errno) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment program = arena.allocate(6 * 8, 4);
      put(program, 0, LOAD, 0, 0, 0);
      put(program, 1, JUMP_IF_EQUAL, 0, 3, SYS_OPENAT);
      put(program, 2, LOAD, 0, 0, 32);
      put(program, 3, JUMP_IF_BITS, 0, 1, O_DIRECT);
      put(program, 4, RETURN, 0, 0, FAIL_WITH | errno);
      put(program, 5, RETURN, 0, 0, ALLOW);
      install(program, 6, arena);
    }
  }

  private static void put(
      MemorySegment program, int at, short code, int ifTrue, int ifFalse, int value) {
    program.set(JAVA_SHORT, at * 8L, code);
    program.set(JAVA_BYTE, at * 8L + 2, (byte) ifTrue);
    program.set(JAVA_BYTE, at * 8L + 3, (byte) ifFalse);
    program.set(JAVA_INT, at * 8L + 4, value);
  }

  private static void install(MemorySegment program, int length, Arena arena) throws Throwable {
    MemorySegment header = arena.allocate(16, 8);
    header.set(JAVA_SHORT, 0, (short) length);
    header.set(ADDRESS, 8, program);
    MethodHandle prctl =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("prctl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    int result = (int) prctl.invokeExact(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    if (result != 0) {
      throw new IllegalStateException("prctl: " + result);
    }
    systemCall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, header.address());
  }

  /** Lowers the limit, and takes from this thread the right to exceed it. */
  private static void limitLockedMemory(long bytes) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle setrlimit =
          LINKER.downcallHandle(
              LINKER.defaultLookup().findOrThrow("setrlimit"),
              FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
      int result =
          (int) setrlimit.invokeExact(RLIMIT_MEMLOCK, arena.allocateFrom(JAVA_LONG, bytes, bytes));
      if (result != 0) {
        throw new IllegalStateException("setrlimit: " + result);
      }
      MemorySegment header = arena.allocateFrom(JAVA_INT, CAPABILITY_VERSION_3, 0);
      MemorySegment sets = arena.allocate(24, 4);
      systemCall(SYS_CAPGET, header.address(), sets.address(), 0);
      sets.set(JAVA_INT, 0, sets.get(JAVA_INT, 0) & ~(1 << CAP_IPC_LOCK));
      systemCall(SYS_CAPSET, header.address(), sets.address(), 0);
    }
  }

  private static void systemCall(long number, long first, long second, long third)
      throws Throwable {
    MethodHandle syscall =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("syscall"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1),
            Linker.Option.captureCallState("errno"));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Linker.Option.captureStateLayout());
      long result = (long) syscall.invokeExact(errno, number, first, second, third);
      if (result != 0) {
        throw new IllegalStateException(
            "system call " + number + ": " + Errno.of(errno.get(JAVA_INT, 0)));
      }
    }
  }
}
