package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Takes resources, a capability or an uninterrupted call away from this process, as tests need. */
final class Limits {
  static final int OPEN_FILES = 7;
  static final int LOCKED_MEMORY = 8;

  private static final boolean X86_64 = Abi.CURRENT == Abi.X86_64;
  private static final long SYS_GETTID = X86_64 ? 186 : 178;
  private static final long SYS_TGKILL = X86_64 ? 234 : 131;
  private static final long SYS_CAPGET = X86_64 ? 125 : 90;
  private static final long SYS_CAPSET = X86_64 ? 126 : 91;
  private static final int CAPABILITY_VERSION_3 = 0x20080522;
  private static final int CAP_IPC_LOCK = 14;

  /** The JVM handles it by doing nothing, so that it only interrupts. */
  private static final long SIGPIPE = 13;

  private static final MethodHandle SETRLIMIT =
      Linkage.link("setrlimit", JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle SYSCALL =
      Linkage.linkVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private Limits() {}

  static void set(int resource, ResourceLimit limit) throws Throwable {
    CallState state = CallState.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocateFrom(JAVA_LONG, limit.soft(), limit.hard());
      int result = state.result((int) SETRLIMIT.invokeExact(state.errno, resource, value));
      NativeException.verify("setrlimit", result, limit.toString());
    }
  }

  /** The calling thread's number; capabilities and signals are a thread's own. */
  static long threadId() throws Throwable {
    return systemCall(SYS_GETTID, 0, 0, 0);
  }

  static void interruptSystemCall(long threadId) throws Throwable {
    systemCall(SYS_TGKILL, ProcessHandle.current().pid(), threadId, SIGPIPE);
  }

  /** Takes from the calling thread alone the right to lock memory beyond the limit. */
  static void dropLockCapability() throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment header = arena.allocateFrom(JAVA_INT, CAPABILITY_VERSION_3, 0);
      MemorySegment sets = arena.allocate(24, 4);
      systemCall(SYS_CAPGET, header.address(), sets.address(), 0);
      sets.set(JAVA_INT, 0, sets.get(JAVA_INT, 0) & ~(1 << CAP_IPC_LOCK));
      systemCall(SYS_CAPSET, header.address(), sets.address(), 0);
    }
  }

  private static long systemCall(long number, long first, long second, long third)
      throws Throwable {
    CallState state = CallState.get();
    long result =
        state.result((long) SYSCALL.invokeExact(state.errno, number, first, second, third));
    return NativeException.check("syscall", result, Long.toString(number));
  }
}
