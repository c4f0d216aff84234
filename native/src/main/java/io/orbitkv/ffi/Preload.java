package io.orbitkv.ffi;

import java.lang.invoke.MethodHandles;

/**
 * Links the C functions that every daemon calls at its start. The JVM writes code for each of them,
 * which takes some hundred milliseconds of a processor that may have nothing else to do then.
 * Nothing depends on it: what was not linked ahead is linked when it is called.
 */
public final class Preload {
  private Preload() {}

  /** Takes its time, so on a thread of its own. */
  public static void run() {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    try {
      lookup.ensureInitialized(FileCalls.class);
      lookup.ensureInitialized(MemoryCalls.class);
      lookup.ensureInitialized(PollCalls.class);
      lookup.ensureInitialized(SocketCalls.class);
      lookup.ensureInitialized(Posix.class);
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException("classes of the same package", impossible);
    }
  }
}
