package io.orbitkv.catalog.inventory;

import io.orbitkv.state.identity.StateKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The first 128 bits of the SHA-256 of a key: what a key is called in catalog tables and on the
 * wire of inventory streams and lookups.
 *
 * <p>Two keys that share a fingerprint can do no harm: a row is evidence, and the owner compares
 * the exact key when it is asked for a grant. One of the two is then not found, or costs one
 * refused grant. With a thousand million blocks the chance that there is such a pair is below
 * 2^-68.
 *
 * @param high the first eight bytes
 * @param low the next eight bytes
 */
public record Fingerprint(long high, long low) {
  private static final byte[] DOMAIN =
      "orbitkv.fingerprint.1\0".getBytes(StandardCharsets.US_ASCII);

  /** The fingerprint of a key. */
  public static Fingerprint of(StateKey key) {
    MessageDigest sha = sha256();
    sha.update(DOMAIN);
    sha.update(key.namespace().text().getBytes(StandardCharsets.US_ASCII));
    sha.update(
        new byte[] {0, (byte) (key.group() >>> 8), (byte) key.group(), (byte) key.hash().length()});
    sha.update(key.hash().toBytes());
    ByteBuffer digest = ByteBuffer.wrap(sha.digest());
    return new Fingerprint(digest.getLong(), digest.getLong());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** 32 hexadecimal digits. */
  @Override
  public String toString() {
    return "%016x%016x".formatted(high, low);
  }
}
