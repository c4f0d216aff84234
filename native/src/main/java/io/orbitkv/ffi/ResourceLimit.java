package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A resource limit of this process.
 *
 * @param soft what holds now; {@link #UNLIMITED} for none
 * @param hard how far the process may raise it
 */
public record ResourceLimit(long soft, long hard) {
  /** No limit. */
  public static final long UNLIMITED = -1;

  private static final int RLIMIT_NOFILE = 7;
  private static final int RLIMIT_MEMLOCK = 8;

  private static final MethodHandle GETRLIMIT =
      Linkage.link("getrlimit", JAVA_INT, JAVA_INT, ADDRESS);

  /** How many bytes this process may lock, unless it has CAP_IPC_LOCK. */
  public static ResourceLimit lockedMemory() throws NativeException {
    return query(RLIMIT_MEMLOCK);
  }

  /** How many descriptors this process may have open. */
  public static ResourceLimit openFiles() throws NativeException {
    return query(RLIMIT_NOFILE);
  }

  @Override
  public String toString() {
    return soft == UNLIMITED ? "unlimited" : Long.toString(soft);
  }

  private static ResourceLimit query(int resource) throws NativeException {
    CallState state = CallState.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(16, 8);
      int result;
      try {
        result = state.result((int) GETRLIMIT.invokeExact(state.errno, resource, out));
      } catch (Throwable thrown) {
        throw Linkage.failure("getrlimit", thrown);
      }
      NativeException.verify("getrlimit", result, "resource " + resource);
      return new ResourceLimit(out.get(JAVA_LONG, 0), out.get(JAVA_LONG, 8));
    }
  }
}
