package io.orbitkv.state;

import java.util.Arrays;
import java.util.HexFormat;

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

  private Keys(int keyBytes, byte[] packed) {
    this.keyBytes = keyBytes;
    this.packed = packed;
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

  public int size() {
    return packed.length / keyBytes;
  }

  public boolean isEmpty() {
    return packed.length == 0;
  }

  public int keyBytes() {
    return keyBytes;
  }

  /** The packed bytes themselves, not a copy; read only. */
  public byte[] packed() {
    return packed;
  }

  public int offset(int index) {
    return index * keyBytes;
  }

  public byte[] key(int index) {
    return Arrays.copyOfRange(packed, index * keyBytes, (index + 1) * keyBytes);
  }

  public String hex(int index) {
    return HexFormat.of().formatHex(packed, index * keyBytes, (index + 1) * keyBytes);
  }

  public Keys slice(int from, int to) {
    return from == 0 && to == size()
        ? this
        : new Keys(keyBytes, Arrays.copyOfRange(packed, from * keyBytes, to * keyBytes));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Keys that
        && keyBytes == that.keyBytes
        && Arrays.equals(packed, that.packed);
  }

  @Override
  public int hashCode() {
    return 31 * keyBytes + Arrays.hashCode(packed);
  }

  @Override
  public String toString() {
    return size() + " keys of " + keyBytes + " bytes";
  }
}
