package io.orbitkv.state;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;

/**
 * An immutable list of native block hashes of one length, packed end to end.
 *
 * <p>An engine uses one hash function, so the keys of one request have one length (1 to 64 bytes);
 * packing them keeps a 2,048-block query at one array instead of 2,048 objects. The array is owned:
 * whoever builds a {@code Keys} must not write to the array afterwards.
 */
public final class Keys {
  public static final int MAX_KEY_BYTES = 64;
  public static final Keys EMPTY = new Keys(1, new byte[0]);

  private final int keyBytes;
  private final byte[] packed;
  private final int from;
  private final int bytes;

  private Keys(int keyBytes, byte[] packed) {
    this(keyBytes, packed, 0, packed.length);
  }

  private Keys(int keyBytes, byte[] packed, int from, int bytes) {
    this.keyBytes = keyBytes;
    this.packed = packed;
    this.from = from;
    this.bytes = bytes;
  }

  /**
   * The keys that lie in an array end to end.
   *
   * @param keyBytes length of every key, 1 to {@link #MAX_KEY_BYTES}
   * @param packed keys end to end; its length is a multiple of {@code keyBytes}
   */
  public static Keys ofPacked(int keyBytes, byte[] packed) {
    if (keyBytes < 1 || keyBytes > MAX_KEY_BYTES || packed.length % keyBytes != 0) {
      throw new IllegalArgumentException(
          packed.length + " bytes are no list of " + keyBytes + "-byte keys");
    }
    return new Keys(keyBytes, packed);
  }

  /**
   * Keys within an array that its owner will write to again: good for the present call only. What
   * keeps them makes a {@link #copy}; no fact may hold them.
   *
   * @param from where the first key begins
   * @param count how many there are
   */
  public static Keys view(int keyBytes, byte[] array, int from, int count) {
    if (keyBytes < 1 || keyBytes > MAX_KEY_BYTES) {
      throw new IllegalArgumentException("key of " + keyBytes + " bytes");
    }
    Objects.checkFromIndexSize(from, count * keyBytes, array.length);
    return new Keys(keyBytes, array, from, count * keyBytes);
  }

  /** The same keys in an array of their own. */
  public Keys copy() {
    return new Keys(keyBytes, Arrays.copyOfRange(packed, from, from + bytes));
  }

  public int size() {
    return bytes / keyBytes;
  }

  public boolean isEmpty() {
    return bytes == 0;
  }

  public int keyBytes() {
    return keyBytes;
  }

  /** The packed bytes themselves, not a copy; read only. A view's array holds others besides. */
  public byte[] packed() {
    return packed;
  }

  public int offset(int index) {
    return from + index * keyBytes;
  }

  public byte[] key(int index) {
    return Arrays.copyOfRange(packed, offset(index), offset(index + 1));
  }

  public String hex(int index) {
    return HexFormat.of().formatHex(packed, offset(index), offset(index + 1));
  }

  /** Some of the keys; of a view a view. */
  public Keys slice(int first, int end) {
    Objects.checkFromToIndex(first, end, size());
    if (first == 0 && end == size()) {
      return this;
    }
    return bytes == packed.length
        ? new Keys(keyBytes, Arrays.copyOfRange(packed, offset(first), offset(end)))
        : new Keys(keyBytes, packed, offset(first), (end - first) * keyBytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Keys that
        && keyBytes == that.keyBytes
        && Arrays.equals(
            packed, from, from + bytes, that.packed, that.from, that.from + that.bytes);
  }

  @Override
  public int hashCode() {
    int hash = keyBytes;
    for (int i = from; i < from + bytes; i++) {
      hash = 31 * hash + packed[i];
    }
    return hash;
  }

  @Override
  public String toString() {
    return size() + " keys of " + keyBytes + " bytes";
  }
}
