package io.orbitkv.manager.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The bytes that stand for a block's KV state: word {@code w} of block {@code b} is {@code noise[w]
 * ^ mix(b)}. Every word differs from the same word of any other block and from its neighbours, so
 * that bytes of another block, at another place, torn or missing are all seen.
 *
 * <p>Not thread-safe.
 */
public final class BlockPattern {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

  private final long[] noise;
  private final long[] words;
  private final MemorySegment expected;

  /**
   * @param blockBytes bytes of a block, a multiple of 8
   */
  public BlockPattern(int blockBytes) {
    if (blockBytes < 8 || blockBytes % 8 != 0) {
      throw new IllegalArgumentException("a block has a multiple of 8 bytes, not " + blockBytes);
    }
    noise = new long[blockBytes / 8];
    for (int i = 0; i < noise.length; i++) {
      noise[i] = Mixing.mix(~(long) i);
    }
    words = new long[noise.length];
    expected = MemorySegment.ofArray(words);
  }

  /** Prepares the bytes of a block for {@link #write} and {@link #mismatch}. */
  public void select(long block) {
    long seed = Mixing.mix(block);
    for (int i = 0; i < words.length; i++) {
      words[i] = noise[i] ^ seed;
    }
  }

  /** Writes a part of the selected block. */
  public void write(long fromByte, MemorySegment to) {
    MemorySegment.copy(expected, fromByte, to, 0, to.byteSize());
  }

  /**
   * Compares a part of the selected block.
   *
   * @return the first byte that differs, counted from the beginning of {@code actual}; -1 if none
   *     does
   */
  public long mismatch(long fromByte, MemorySegment actual) {
    return expected.asSlice(fromByte, actual.byteSize()).mismatch(actual);
  }

  /** The key of a block: 32 bytes, as long as a SHA-256. */
  public static void key(long namespaceSeed, long block, byte[] into, int offset) {
    MemorySegment key = MemorySegment.ofArray(into);
    long state = Mixing.mix(namespaceSeed);
    for (int i = 0; i < KEY_BYTES / 8; i++) {
      state = Mixing.mix(state ^ block);
      key.set(WORD, offset + 8L * i, state);
    }
  }

  /** Bytes of a key. */
  public static final int KEY_BYTES = 32;
}
