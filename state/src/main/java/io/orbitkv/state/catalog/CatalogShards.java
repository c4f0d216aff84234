package io.orbitkv.state.catalog;

import io.orbitkv.state.identity.StateKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Which catalog shard a block belongs to: the first four bits of the SHA-256 of {@code
 * orbitkv.catalog.1}, a zero, the namespace, a zero, the group in two bytes and the hash.
 */
public final class CatalogShards {
  /** How many there are; it never changes. */
  public static final int COUNT = 16;

  private static final byte[] DOMAIN = "orbitkv.catalog.1\0".getBytes(StandardCharsets.US_ASCII);

  private CatalogShards() {}

  /** The catalog shard of a block, 0 to {@value #COUNT} - 1. */
  public static int of(StateKey key) {
    MessageDigest sha = sha256();
    sha.update(DOMAIN);
    sha.update(key.namespace().text().getBytes(StandardCharsets.US_ASCII));
    sha.update(new byte[] {0, (byte) (key.group() >>> 8), (byte) key.group()});
    sha.update(key.hash().toBytes());
    return (sha.digest()[0] & 0xF0) >>> 4;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
