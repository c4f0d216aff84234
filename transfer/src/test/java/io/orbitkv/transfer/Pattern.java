package io.orbitkv.transfer;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A pool whose every byte follows from its offset, so that any process can tell what it holds. */
public final class Pattern {
  private Pattern() {}

  public static MemorySegment pool(Arena arena, long bytes) {
    MemorySegment pool = arena.allocate(bytes, 4096);
    for (long at = 0; at < bytes; at += Long.BYTES) {
      pool.set(JAVA_LONG_UNALIGNED, at, word(at));
    }
    return pool;
  }

  /** Where a destination differs from the pool's bytes; -1 if nowhere. */
  public static long mismatch(MemorySegment destination, PoolRange source) {
    long at = 0;
    for (; at < source.length() && (source.offset() + at) % Long.BYTES != 0; at++) {
      if (destination.get(JAVA_BYTE, at) != byteAt(source.offset() + at)) {
        return at;
      }
    }
    for (; at + Long.BYTES <= source.length(); at += Long.BYTES) {
      if (destination.get(JAVA_LONG_UNALIGNED, at) != word(source.offset() + at)) {
        return at;
      }
    }
    for (; at < source.length(); at++) {
      if (destination.get(JAVA_BYTE, at) != byteAt(source.offset() + at)) {
        return at;
      }
    }
    return -1;
  }

  private static byte byteAt(long offset) {
    return (byte) (word(offset & -Long.BYTES) >>> (8 * (offset % Long.BYTES)));
  }

  private static long word(long offset) {
    long mixed = (offset + 1) * 0x9E3779B97F4A7C15L;
    return mixed ^ (mixed >>> 29);
  }
}
