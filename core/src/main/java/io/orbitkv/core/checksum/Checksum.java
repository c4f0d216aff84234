package io.orbitkv.core.checksum;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;

/**
 * The 64-bit checksum of an extent, computed when it is published and verified when it is restored.
 *
 * <pre>
 *   extent, little-endian words      w(0) w(1) ...            position of w(i) = 8 i bytes
 *   chunks of 512 words (4 KiB)      n = i / 512,  j = i mod 512
 *
 *   x(i)    = w(i) + TABLE[j] + key(n)                        mod 2^64
 *   term(i) = low32(x(i)) * high32(x(i)) + w(i)               32 x 32 -> 64 bits
 *   sum     = Σ weight(n) * term(i)                           mod 2^64
 *   value   = mix(sum + mix(length + LENGTH_SEED))
 * </pre>
 *
 * <p>The sum is a plain addition over words, each weighted by its position in the extent alone. So
 * it may be cut anywhere at a multiple of 8 bytes, over layers, workers or GPU threads, and the
 * parts add up: that is what lets a restore check each layer as it arrives and then their total. A
 * last word that is not whole is padded with zeros; the length, mixed in at the end, tells a
 * truncated extent from one that ends in zeros.
 *
 * <p>The loop over words has exactly one accumulator and one load, because that is the form the JIT
 * compiler turns into vector code whatever calls it; a second accumulator or a store beside it
 * costs a factor of five, and so does a memory segment whose kind of arena varies between callers.
 * A copy by Java is therefore not fused word by word but in pieces that stay in the first-level
 * cache: summing a piece fetches it, copying it finds it there. {@link StreamingKernel} fuses it.
 *
 * <p>It guards against accidents, not against an adversary: all constants are public. The formula,
 * its bounds, the GPU decomposition and vectors to test another implementation with are in {@code
 * docs/checksum.md}.
 */
public final class Checksum {
  /** Segments of an extent begin at multiples of this many bytes. */
  public static final int ALIGNMENT_BYTES = 8;

  static final int CHUNK_WORDS = 512;
  private static final int COPY_PIECE_WORDS = 128;

  /** Below this the lines at both ends cost more than is gained. */
  private static final int LEAST_STREAMED_BYTES = 4096;

  private static final long LOW_32 = 0xFFFF_FFFFL;
  private static final long STEP = 0x9E37_79B9_7F4A_7C15L;
  private static final long KEY_SEED = 0x243F_6A88_85A3_08D3L;
  private static final long WEIGHT_SEED = 0x1319_8A2E_0370_7344L;
  private static final long LENGTH_SEED = 0xA409_3822_299F_31D0L;

  static final long[] TABLE = new long[CHUNK_WORDS];

  static {
    for (int j = 0; j < CHUNK_WORDS; j++) {
      TABLE[j] = mix((j + 1) * STEP);
    }
  }

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** All memory: access by address, after the range was checked against the caller's segment. */
  private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private Checksum() {}

  /**
   * The partial sum of one segment of an extent. Partial sums of an extent's segments add up
   * (wrapping) to the extent's sum, in any order.
   *
   * @param segment off-heap memory that holds the bytes; its arena must stay open during the call
   * @param offset of the first byte in {@code segment}; needs no alignment
   * @param bytes length, 0 or more; a multiple of 8 unless the extent ends here
   * @param basePosition position of the first byte within the extent, in bytes, a multiple of 8
   * @throws IllegalArgumentException if {@code segment} is on the heap or {@code basePosition} is
   *     not a position
   * @throws IndexOutOfBoundsException if the range is not within {@code segment}
   * @throws IllegalStateException if its arena was closed
   * @throws WrongThreadException if its arena is confined to another thread
   */
  public static long sum(MemorySegment segment, long offset, long bytes, long basePosition) {
    checkPosition(basePosition, bytes);
    MemorySegment source = slice(segment, offset, bytes);
    long wholeBytes = bytes & -ALIGNMENT_BYTES;
    try {
      long sum = 0;
      long done = 0;
      while (done < wholeBytes) {
        long position = basePosition + done;
        int words = wordsToBoundary(position, CHUNK_WORDS, wholeBytes - done);
        sum += weightedTerms(source.address() + done, position, words);
        done += words * 8L;
      }
      return sum + tail(source, wholeBytes, bytes, basePosition);
    } finally {
      Reference.reachabilityFence(segment);
    }
  }

  /**
   * Copies one segment and returns the partial sum of what was read, as {@link #sum} of the source
   * would. The ranges must not overlap, nothing may write the source meanwhile, and both arenas
   * must stay open during the call.
   *
   * @param source off-heap memory to read
   * @param sourceOffset of the first byte in {@code source}; needs no alignment
   * @param target off-heap memory to write
   * @param targetOffset of the first byte in {@code target}; needs no alignment
   * @param bytes length, 0 or more; a multiple of 8 unless the extent ends here
   * @param basePosition position of the first byte within the extent, in bytes, a multiple of 8
   * @throws IllegalArgumentException if a segment is on the heap or {@code basePosition} is not a
   *     position
   * @throws IndexOutOfBoundsException if a range is not within its segment; nothing was copied
   * @throws IllegalStateException if an arena was closed; nothing was copied
   * @throws WrongThreadException if an arena is confined to another thread; nothing was copied
   */
  public static long copyAndSum(
      MemorySegment source,
      long sourceOffset,
      MemorySegment target,
      long targetOffset,
      long bytes,
      long basePosition) {
    checkPosition(basePosition, bytes);
    MemorySegment from = slice(source, sourceOffset, bytes);
    MemorySegment to = slice(target, targetOffset, bytes);
    long wholeBytes = bytes & -ALIGNMENT_BYTES;
    try {
      long sum = 0;
      long done = 0;
      while (done < wholeBytes) {
        long position = basePosition + done;
        int words = wordsToBoundary(position, COPY_PIECE_WORDS, wholeBytes - done);
        sum += weightedTerms(from.address() + done, position, words);
        MemorySegment.copy(from, done, to, done, words * 8L);
        done += words * 8L;
      }
      MemorySegment.copy(from, wholeBytes, to, wholeBytes, bytes - wholeBytes);
      return sum + tail(from, wholeBytes, bytes, basePosition);
    } finally {
      Reference.reachabilityFence(source);
    }
  }

  /**
   * Like {@link #copyAndSum}, for bytes that are more than the caches hold: the target's go around
   * them where the machine has such stores, see {@link #streaming}. Whoever tells others of the
   * target calls {@link #fence} before.
   *
   * <p>Neither range may fault, as a file's that got shorter does: the process would end.
   */
  public static long streamAndSum(
      MemorySegment source,
      long sourceOffset,
      MemorySegment target,
      long targetOffset,
      long bytes,
      long basePosition) {
    long streamed = bytes & -StreamingKernel.STEP_BYTES;
    if (!StreamingKernel.AVAILABLE
        || bytes < LEAST_STREAMED_BYTES
        || basePosition % StreamingKernel.STEP_BYTES != 0
        || (target.address() + targetOffset) % StreamingKernel.TARGET_ALIGNMENT_BYTES != 0) {
      return copyAndSum(source, sourceOffset, target, targetOffset, bytes, basePosition);
    }
    checkPosition(basePosition, bytes);
    MemorySegment from = slice(source, sourceOffset, bytes);
    MemorySegment to = slice(target, targetOffset, bytes);
    if (to.isReadOnly()) {
      throw new IllegalArgumentException("the target is read-only");
    }
    long sum = 0;
    try {
      long done = 0;
      while (done < streamed) {
        long position = basePosition + done;
        long chunk = chunkOf(position);
        int index = indexOf(position);
        long count = Math.min(streamed - done, 8L * (CHUNK_WORDS - index));
        long terms =
            StreamingKernel.copyAndSum(
                from.address() + done, to.address() + done, index, key(chunk), count);
        sum += weight(chunk) * terms;
        done += count;
      }
    } finally {
      Reference.reachabilityFence(source);
      Reference.reachabilityFence(target);
    }
    return streamed == bytes
        ? sum
        : sum + copyAndSum(from, streamed, to, streamed, bytes - streamed, basePosition + streamed);
  }

  /** Orders what this thread streamed before whatever it writes next. */
  public static void fence() {
    if (StreamingKernel.AVAILABLE) {
      StreamingKernel.fence();
    }
  }

  /** How {@link #streamAndSum} stores on this machine, for a log. */
  public static String streaming() {
    return StreamingKernel.description();
  }

  /**
   * The checksum of a whole extent: the value that is journaled and compared.
   *
   * @param sum wrapping total of the partial sums of all its segments
   * @param extentBytes length of the extent, 0 or more
   */
  public static long finish(long sum, long extentBytes) {
    return mix(sum + mix(extentBytes + LENGTH_SEED));
  }

  private static void checkPosition(long basePosition, long bytes) {
    if (basePosition < 0
        || basePosition % ALIGNMENT_BYTES != 0
        || bytes > Long.MAX_VALUE - basePosition) {
      throw new IllegalArgumentException(
          "not a segment of an extent: position " + basePosition + ", " + bytes + " bytes");
    }
  }

  /** The range, whose memory this thread may read at this moment: else the access says why not. */
  private static MemorySegment slice(MemorySegment segment, long offset, long bytes) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException("not off-heap memory: " + segment);
    }
    MemorySegment slice = segment.asSlice(offset, bytes);
    if (bytes > 0) {
      slice.get(ValueLayout.JAVA_BYTE, 0);
    }
    return slice;
  }

  private static int wordsToBoundary(long position, int boundaryWords, long bytesLeft) {
    int index = (int) (position >>> 3) & (boundaryWords - 1);
    return (int) Math.min(boundaryWords - index, bytesLeft >>> 3);
  }

  private static long weightedTerms(long address, long position, int words) {
    long chunk = chunkOf(position);
    int index = indexOf(position);
    return weight(chunk) * terms(address, words, index, key(chunk));
  }

  /** The sum of the terms of {@code words} words of one chunk, from word {@code index} on. */
  private static long terms(long address, int words, int index, long chunkKey) {
    long sum = 0;
    for (int i = 0; i < words; i++) {
      long word = MEMORY.get(WORD, address + 8L * i);
      long x = word + TABLE[index + i] + chunkKey;
      sum += (x & LOW_32) * (x >>> 32) + word;
    }
    return sum;
  }

  private static long tail(MemorySegment source, long wholeBytes, long bytes, long basePosition) {
    if (wholeBytes == bytes) {
      return 0;
    }
    long word = 0;
    for (long at = wholeBytes; at < bytes; at++) {
      word |= (source.get(ValueLayout.JAVA_BYTE, at) & 0xFFL) << (8 * (at - wholeBytes));
    }
    long position = basePosition + wholeBytes;
    long chunk = chunkOf(position);
    long x = word + TABLE[indexOf(position)] + key(chunk);
    return weight(chunk) * ((x & LOW_32) * (x >>> 32) + word);
  }

  private static long chunkOf(long position) {
    return position / (8L * CHUNK_WORDS);
  }

  private static int indexOf(long position) {
    return (int) (position >>> 3) & (CHUNK_WORDS - 1);
  }

  private static long key(long chunk) {
    return mix(chunk * STEP + KEY_SEED);
  }

  private static long weight(long chunk) {
    return mix(chunk * STEP + WEIGHT_SEED) | 1;
  }

  /** The finalizer of SplitMix64: a bijection in which every input bit reaches every output bit. */
  private static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
  }
}
