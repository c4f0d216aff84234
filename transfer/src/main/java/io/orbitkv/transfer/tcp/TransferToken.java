package io.orbitkv.transfer.tcp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What all hosts of a cluster share. A peer shows that it knows the token by a proof that is good
 * for one connection between two runs only; the token itself neither travels nor is printed.
 */
public final class TransferToken {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MIN_BYTES = 16;

  private final SecretKeySpec key;

  /**
   * Takes a token.
   *
   * @throws IllegalArgumentException if it has fewer than 16 bytes
   */
  public TransferToken(byte[] token) {
    if (token.length < MIN_BYTES) {
      throw new IllegalArgumentException("a token has at least " + MIN_BYTES + " bytes");
    }
    this.key = new SecretKeySpec(token, ALGORITHM);
  }

  Bits256 ofReader(Bits256 sourceNonce, Bits256 readerNonce, UUID reader, UUID source) {
    return proof("orbitkv reader 1", sourceNonce, readerNonce, reader, source);
  }

  Bits256 ofSource(Bits256 sourceNonce, Bits256 readerNonce, UUID reader, UUID source) {
    return proof("orbitkv source 1", sourceNonce, readerNonce, reader, source);
  }

  private Bits256 proof(String role, Bits256 one, Bits256 other, UUID reader, UUID source) {
    ByteBuffer text = ByteBuffer.allocate(16 + 2 * Bits256.BYTES + 2 * 16);
    text.put(role.getBytes(StandardCharsets.US_ASCII));
    one.put(text);
    other.put(text);
    text.putLong(reader.getMostSignificantBits()).putLong(reader.getLeastSignificantBits());
    text.putLong(source.getMostSignificantBits()).putLong(source.getLeastSignificantBits());
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return Bits256.of(mac.doFinal(text.array()));
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("no " + ALGORITHM, e);
    }
  }
}
