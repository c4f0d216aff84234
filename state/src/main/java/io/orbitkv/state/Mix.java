package io.orbitkv.state;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 64-bit mixing functions of the digest and of the key index.
 *
 * <p>Digests are recorded in the journal and compared by later runs, so these functions are part of
 * the format: they depend on values alone, never on object identity or on the JVM.
 */
final class Mix {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long WORD_FACTOR = 0xD6E8FEB86659FD93L;
  private static final long CHAIN_FACTOR = 0xA0761D6478BD642FL;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Mix() {}

  /** A bijection in which every input bit changes half of the output bits. */
  static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  /**
   * Adds a value to a hash; the order of values matters. Cheap, and therefore not yet well mixed:
   * whoever sums hashes up passes the last one through {@link #mix}.
   */
  static long chain(long hash, long value) {
    return Long.rotateLeft((hash ^ value) * CHAIN_FACTOR, 29) + GOLDEN;
  }

  static long chain(long hash, String text) {
    return chain(chain(hash, text.length()), text.hashCode());
  }

  static long chain(long hash, LongRanges ranges) {
    long chained = chain(hash, ranges.runs());
    for (int run = 0; run < ranges.runs(); run++) {
      chained = chain(chain(chained, ranges.first(run)), ranges.count(run));
    }
    return chained;
  }

  /** Hashes a short byte string; equal bytes under different seeds are unrelated. */
  static long bytes(long seed, byte[] source, int offset, int length) {
    long hash = seed ^ (length * GOLDEN);
    int end = offset + length;
    int at = offset;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      hash = (hash ^ (long) LONGS.get(source, at)) * WORD_FACTOR;
      hash ^= hash >>> 32;
    }
    if (at < end) {
      long rest = 0;
      for (; at < end; at++) {
        rest = (rest << 8) | (source[at] & 0xFF);
      }
      hash = (hash ^ rest) * WORD_FACTOR;
      hash ^= hash >>> 32;
    }
    return mix(hash);
  }
}
