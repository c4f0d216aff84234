package io.orbitkv.client.wire;

import java.nio.charset.StandardCharsets;

/** The engine's name of a request as it travels for the journal: 0 to 64 visible ASCII bytes. */
final class RequestName {
  static final int MAX_BYTES = 64;

  private RequestName() {}

  static boolean isValid(String name) {
    if (name.length() > MAX_BYTES) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      if (name.charAt(i) <= ' ' || name.charAt(i) > '~') {
        return false;
      }
    }
    return true;
  }

  /**
   * The bytes of a name.
   *
   * @throws IllegalArgumentException if it is not valid
   */
  static byte[] encode(String name) {
    if (!isValid(name)) {
      throw new IllegalArgumentException("not 0 to 64 visible ASCII characters: " + name);
    }
    return name.getBytes(StandardCharsets.US_ASCII);
  }

  /** Bytes of it in a payload, padding included. */
  static int paddedBytes(String name) {
    return pad8(name.length());
  }

  static int pad8(int bytes) {
    return bytes + 7 & ~7;
  }

  /**
   * Reads a name and its padding; a name with bytes that are not visible ASCII is still returned
   * and found by {@link #isValid}.
   */
  static String read(WireReader reader, byte[] source, int bytes) {
    int at = reader.position();
    reader.skip(bytes);
    if (reader.bad()) {
      return "";
    }
    String name = new String(source, at, bytes, StandardCharsets.ISO_8859_1);
    reader.pad8();
    return name;
  }
}
