package io.orbitkv.state.identity;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * An engine's native block hash: {@value #MIN_BYTES} to {@value #MAX_BYTES} opaque bytes.
 *
 * <p>Millions of these live on the heap and are compared on every query, so the first 32 bytes (all
 * of a SHA-256) are fields instead of an array: one object of 56 bytes, or 48 with compact object
 * headers. Words are big-endian and padded with zeros, so that unsigned word order is the order of
 * the bytes; the length tells {@code 00} from {@code 0000}.
 */
public final class BlockHash implements Comparable<BlockHash> {

  /** The shortest hash, in bytes. */
  public static final int MIN_BYTES = 1;

  /** The longest hash, in bytes. */
  public static final int MAX_BYTES = 64;

  private static final int INLINE_BYTES = 32;
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final byte length;
  private final long word0;
  private final long word1;
  private final long word2;
  private final long word3;
  private final long @Nullable [] tail;

  private BlockHash(byte[] source, int offset, int length) {
    this.length = (byte) length;
    this.word0 = word(source, offset, length, 0);
    this.word1 = word(source, offset, length, 1);
    this.word2 = word(source, offset, length, 2);
    this.word3 = word(source, offset, length, 3);
    this.tail = length <= INLINE_BYTES ? null : tail(source, offset, length);
  }

  /** A hash of all of {@code bytes}, which are copied. */
  public static Checked<BlockHash> of(byte[] bytes) {
    return of(bytes, 0, bytes.length);
  }

  /**
   * A hash of {@code length} bytes of {@code source} from {@code offset}, which are copied.
   *
   * @throws IndexOutOfBoundsException when a length from {@value #MIN_BYTES} to {@value #MAX_BYTES}
   *     does not fit {@code source}
   */
  public static Checked<BlockHash> of(byte[] source, int offset, int length) {
    InvalidField problem = Limits.checkRange("hash.length", length, MIN_BYTES, MAX_BYTES);
    if (problem != null) {
      return new Checked.Invalid<>(problem);
    }
    return new Checked.Valid<>(read(source, offset, length));
  }

  /**
   * The same without the wrapping result, for a hot path that has checked the length itself.
   *
   * @throws IllegalArgumentException when the length is not {@value #MIN_BYTES} to {@value
   *     #MAX_BYTES}
   * @throws IndexOutOfBoundsException when the range does not fit {@code source}
   */
  public static BlockHash read(byte[] source, int offset, int length) {
    if (length < MIN_BYTES || length > MAX_BYTES) {
      throw new IllegalArgumentException("hash length " + length);
    }
    if (offset < 0 || offset > source.length - length) {
      throw new IndexOutOfBoundsException(
          "hash at " + offset + " of " + length + " bytes in " + source.length);
    }
    return new BlockHash(source, offset, length);
  }

  /** A hash written as an even number of hexadecimal digits. */
  public static Checked<BlockHash> ofHex(String hex) {
    if (hex.length() % 2 != 0 || !hex.chars().allMatch(HexFormat::isHexDigit)) {
      return new Checked.Invalid<>(
          new InvalidField(
              "hash",
              hex,
              "not hexadecimal",
              "give two digits 0-9 a-f for each of 1 to " + MAX_BYTES + " bytes"));
    }
    return of(HexFormat.of().parseHex(hex));
  }

  /** The number of bytes. */
  public int length() {
    return length;
  }

  /** A copy of the bytes. */
  public byte[] toBytes() {
    byte[] out = new byte[length];
    copyTo(out, 0);
    return out;
  }

  /**
   * Copies the bytes.
   *
   * @throws IndexOutOfBoundsException when {@link #length()} bytes do not fit at {@code offset}
   */
  public void copyTo(byte[] target, int offset) {
    if (offset < 0 || offset > target.length - length) {
      throw new IndexOutOfBoundsException("hash of " + length + " bytes at " + offset);
    }
    for (int i = 0; i < length; i++) {
      target[offset + i] = (byte) (wordAt(i >> 3) >>> (56 - ((i & 7) << 3)));
    }
  }

  /** The bytes in lower-case hexadecimal. */
  public String toHex() {
    return HexFormat.of().formatHex(toBytes());
  }

  /** Orders by unsigned bytes; a prefix comes before what extends it. */
  @Override
  public int compareTo(BlockHash other) {
    for (int i = 0; i < MAX_BYTES / 8; i++) {
      int order = Long.compareUnsigned(wordAt(i), other.wordAt(i));
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(length, other.length);
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof BlockHash other
        && word0 == other.word0
        && word1 == other.word1
        && word2 == other.word2
        && word3 == other.word3
        && length == other.length
        && Arrays.equals(tail, other.tail);
  }

  @Override
  public int hashCode() {
    long mixed = word0 ^ Long.rotateLeft(word1, 17) ^ Long.rotateLeft(word2, 31);
    mixed = (mixed ^ Long.rotateLeft(word3, 47) ^ length) * 0x9E3779B97F4A7C15L;
    int hash = (int) (mixed ^ (mixed >>> 32));
    return tail == null ? hash : 31 * hash + Arrays.hashCode(tail);
  }

  @Override
  public String toString() {
    return toHex();
  }

  private long wordAt(int index) {
    return switch (index) {
      case 0 -> word0;
      case 1 -> word1;
      case 2 -> word2;
      case 3 -> word3;
      default -> tail == null || index - 4 >= tail.length ? 0 : tail[index - 4];
    };
  }

  private static long[] tail(byte[] source, int offset, int length) {
    long[] words = new long[(length - INLINE_BYTES + 7) / 8];
    for (int i = 0; i < words.length; i++) {
      words[i] = word(source, offset, length, 4 + i);
    }
    return words;
  }

  private static long word(byte[] source, int offset, int length, int index) {
    int from = index * 8;
    if (from + 8 <= length) {
      return (long) WORD.get(source, offset + from);
    }
    long word = 0;
    for (int i = from; i < length; i++) {
      word |= (source[offset + i] & 0xFFL) << (56 - ((i - from) << 3));
    }
    return word;
  }
}
