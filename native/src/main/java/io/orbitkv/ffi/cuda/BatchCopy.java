package io.orbitkv.ffi.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The driver's copy of many pieces in one call ({@code cuMemcpyBatchAsync}, CUDA 12.8), which JCuda
 * has not. In CUDA 13 its second version lost an argument, and a library of either may be here.
 */
final class BatchCopy {
  /** {@code CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}: sources are read when the stream comes to them. */
  private static final int STREAM_ORDER = 1;

  /** {@code CUmemcpyAttributes}: order, two location hints of 8 bytes, flags. */
  private static final long ATTRIBUTES_BYTES = 24;

  /** {@code CUDA_ERROR_NOT_SUPPORTED}. */
  private static final int NOT_SUPPORTED = 801;

  private static final @Nullable MethodHandle FIRST =
      find(
          "cuMemcpyBatchAsync",
          FunctionDescriptor.of(
              JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS,
              JAVA_LONG));
  private static final @Nullable MethodHandle SECOND =
      find(
          "cuMemcpyBatchAsync_v2",
          FunctionDescriptor.of(
              JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG,
              JAVA_LONG));

  private BatchCopy() {}

  /**
   * Copies pieces of one size.
   *
   * @param stream the driver's
   * @return the driver's answer; {@code CUDA_ERROR_NOT_SUPPORTED} if it has no such call
   */
  static int run(long[] to, long[] from, long bytes, long stream) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment targets = arena.allocateFrom(JAVA_LONG, to);
      MemorySegment sources = arena.allocateFrom(JAVA_LONG, from);
      MemorySegment sizes = arena.allocate(JAVA_LONG, to.length);
      for (int i = 0; i < to.length; i++) {
        sizes.setAtIndex(JAVA_LONG, i, bytes);
      }
      MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, 8);
      attributes.set(JAVA_INT, 0, STREAM_ORDER);
      MemorySegment firsts = arena.allocate(JAVA_LONG);
      MemorySegment failed = arena.allocate(JAVA_LONG);
      MethodHandle second = SECOND;
      MethodHandle first = FIRST;
      if (second != null) {
        return (int)
            second.invokeExact(
                targets, sources, sizes, (long) to.length, attributes, firsts, 1L, stream);
      }
      if (first == null) {
        return NOT_SUPPORTED;
      }
      return (int)
          first.invokeExact(
              targets, sources, sizes, (long) to.length, attributes, firsts, 1L, failed, stream);
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new IllegalStateException("cannot invoke cuMemcpyBatchAsync", impossible);
    }
  }

  private static @Nullable MethodHandle find(String name, FunctionDescriptor descriptor) {
    Optional<MemorySegment> symbol =
        SymbolLookup.libraryLookup("libcuda.so.1", Arena.global()).find(name);
    return symbol.isEmpty() ? null : Linker.nativeLinker().downcallHandle(symbol.get(), descriptor);
  }
}
