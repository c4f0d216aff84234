package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What {@code statx} says of reading and writing a file past the page cache.
 *
 * @param known whether the kernel tells, which it does from Linux 6.1 on
 * @param memoryAlignment what addresses must be a multiple of; 0 if the file does not offer it
 * @param offsetAlignment what offsets and sizes must be a multiple of; 0 if the file does not offer
 *     it
 */
public record DirectIo(boolean known, int memoryAlignment, int offsetAlignment) {
  private static final int MASK_OFFSET = 0;
  private static final int MEMORY_ALIGNMENT_OFFSET = 152;
  private static final int OFFSET_ALIGNMENT_OFFSET = 156;

  /** Of an open file. */
  public static DirectIo of(DiskFile file) throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(FileCalls.STATX_BYTES, 8);
      NativeException.verify(
          "statx",
          FileCalls.statx(
              file.descriptor().fd(),
              arena.allocateFrom(""),
              FileCalls.AT_EMPTY_PATH,
              FileCalls.STATX_DIOALIGN,
              out),
          file);
      boolean known = (out.get(ValueLayout.JAVA_INT, MASK_OFFSET) & FileCalls.STATX_DIOALIGN) != 0;
      return new DirectIo(
          known,
          out.get(ValueLayout.JAVA_INT, MEMORY_ALIGNMENT_OFFSET),
          out.get(ValueLayout.JAVA_INT, OFFSET_ALIGNMENT_OFFSET));
    }
  }

  /** Whether it is known that the file does not offer it. */
  public boolean refused() {
    return known && offsetAlignment == 0;
  }

  /**
   * Whether addresses, offsets and sizes that are multiples of this will do, as far as is known.
   */
  public boolean allows(int alignment) {
    return !known
        || (offsetAlignment > 0
            && alignment % offsetAlignment == 0
            && alignment % Math.max(1, memoryAlignment) == 0);
  }
}
