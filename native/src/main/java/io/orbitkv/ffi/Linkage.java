package io.orbitkv.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;

/**
 * Makes method handles for C library functions. Every handle captures errno into its first
 * argument, a {@link CallState#errno} segment.
 *
 * <p>The handles are ordinary, not {@code Linker.Option.critical}: an eventfd write takes about 450
 * ns either way, and a critical call would hold up a collection.
 */
final class Linkage {
  private static final Linker LINKER = Linker.nativeLinker();

  private Linkage() {}

  static MethodHandle link(String name, MemoryLayout returned, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(returned, arguments),
        Linker.Option.captureCallState("errno"));
  }

  /** Links a variadic function; arguments from {@code firstVariadic} on are the variable ones. */
  static MethodHandle linkVariadic(
      String name, int firstVariadic, MemoryLayout returned, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(returned, arguments),
        Linker.Option.firstVariadicArg(firstVariadic),
        Linker.Option.captureCallState("errno"));
  }

  /** Links a function that neither blocks nor sets errno. */
  static MethodHandle linkPlain(String name, MemoryLayout returned, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(returned, arguments));
  }

  /**
   * What to throw when a handle threw: a closed or foreign arena surfaces as it is, and a checked
   * throwable can only mean that the handle and its call disagree.
   */
  static RuntimeException failure(String call, Throwable thrown) {
    return switch (thrown) {
      case RuntimeException unchecked -> unchecked;
      case Error error -> throw error;
      default -> new IllegalStateException("cannot invoke " + call, thrown);
    };
  }
}
