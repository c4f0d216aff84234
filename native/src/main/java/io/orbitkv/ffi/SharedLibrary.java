package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Finds out whether a shared library can be loaded, and if not, why in the loader's own words: a
 * symbol that it needs and nobody has, for example, which {@code SymbolLookup} does not tell.
 */
public final class SharedLibrary {
  private static final int RTLD_NOW = 2;
  private static final long MAX_MESSAGE_BYTES = 4096;

  private static final MethodHandle DLOPEN =
      Linkage.linkPlain("dlopen", ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle DLSYM = Linkage.linkPlain("dlsym", ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle DLERROR = Linkage.linkPlain("dlerror", ADDRESS);
  private static final MethodHandle DLCLOSE = Linkage.linkPlain("dlclose", JAVA_INT, ADDRESS);

  private SharedLibrary() {}

  /**
   * Loads a library, looks for a symbol and lets go of the library again.
   *
   * @param name a file name for the loader's search path, or a path with a slash
   * @param symbol one that it must export
   * @param remedy what to do when it is missing
   */
  public static Probe probe(String name, String symbol, String remedy) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment library =
          (MemorySegment) DLOPEN.invokeExact(arena.allocateFrom(name), RTLD_NOW);
      if (library.equals(MemorySegment.NULL)) {
        return Probe.missing(error(), remedy);
      }
      MemorySegment found = (MemorySegment) DLSYM.invokeExact(library, arena.allocateFrom(symbol));
      Probe result =
          found.equals(MemorySegment.NULL)
              ? Probe.missing(name + " has no symbol " + symbol, remedy)
              : Probe.found(name);
      int closed = (int) DLCLOSE.invokeExact(library);
      return closed == 0 ? result : Probe.missing(error(), remedy);
    } catch (Throwable thrown) {
      throw Linkage.failure("dlopen", thrown);
    }
  }

  private static String error() throws Throwable {
    MemorySegment message = (MemorySegment) DLERROR.invokeExact();
    return message.equals(MemorySegment.NULL)
        ? "the loader gave no reason"
        : message.reinterpret(MAX_MESSAGE_BYTES).getString(0);
  }
}
