package io.orbitkv.client.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Some block keys of one length, packed one after the other in a byte array that is shared and must
 * not be changed.
 */
public final class KeyRun {
  /** The longest key, in bytes. */
  public static final int MAX_KEY_BYTES = 64;

  private final byte[] packed;
  private final int offset;
  private final int keyBytes;
  private final int count;

  /**
   * Keys in part of an array, which is not copied.
   *
   * @throws IllegalArgumentException if {@code keyBytes} is not 1 to 64 or the keys do not fit
   */
  public KeyRun(byte[] packed, int offset, int keyBytes, int count) {
    if (keyBytes < 1 || keyBytes > MAX_KEY_BYTES) {
      throw new IllegalArgumentException("key of " + keyBytes + " bytes");
    }
    if (count < 0 || offset < 0 || (long) offset + (long) keyBytes * count > packed.length) {
      throw new IllegalArgumentException(count + " keys at " + offset + " of " + packed.length);
    }
    this.packed = packed;
    this.offset = offset;
    this.keyBytes = keyBytes;
    this.count = count;
  }

  /** All of an array. */
  public static KeyRun of(byte[] packed, int keyBytes) {
    return new KeyRun(packed, 0, keyBytes, packed.length / keyBytes);
  }

  /** The array that holds them. */
  public byte[] packed() {
    return packed;
  }

  /** Where the first key begins in {@link #packed}. */
  public int offset() {
    return offset;
  }

  /** Where a key begins in {@link #packed}. */
  public int offset(int index) {
    return offset + index * keyBytes;
  }

  /** Bytes of each key, 1 to 64. */
  public int keyBytes() {
    return keyBytes;
  }

  /** How many keys there are. */
  public int count() {
    return count;
  }

  /** A copy of one key. */
  public byte[] key(int index) {
    return Arrays.copyOfRange(packed, offset(index), offset(index) + keyBytes);
  }

  /** The keys from {@code from} on, {@code newCount} of them. */
  public KeyRun slice(int from, int newCount) {
    return new KeyRun(packed, offset(from), keyBytes, newCount);
  }

  int totalBytes() {
    return keyBytes * count;
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof KeyRun other
        && keyBytes == other.keyBytes
        && count == other.count
        && Arrays.equals(
            packed,
            offset,
            offset + totalBytes(),
            other.packed,
            other.offset,
            other.offset + other.totalBytes());
  }

  @Override
  public int hashCode() {
    int hash = keyBytes;
    for (int i = offset; i < offset + totalBytes(); i++) {
      hash = 31 * hash + packed[i];
    }
    return hash;
  }

  @Override
  public String toString() {
    return count + " keys of " + keyBytes + " bytes";
  }
}
