package io.orbitkv.manager.replay;

import io.orbitkv.state.Keys;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** Which keys a question is about. Asked for every key that was ever published, so it is cheap. */
interface KeyMatcher {
  KeyMatcher NONE = (packed, offset, length) -> false;

  boolean matches(byte[] packed, int offset, int length);

  /** Keys that begin with some hexadecimal digits, an even number of them or not. */
  static KeyMatcher prefix(String hex) {
    byte[] whole = HexFormat.of().parseHex(hex, 0, hex.length() / 2 * 2);
    int half = hex.length() % 2 == 0 ? -1 : HexFormat.fromHexDigit(hex.charAt(hex.length() - 1));
    return (packed, offset, length) ->
        length >= whole.length + (half < 0 ? 0 : 1)
            && Arrays.equals(packed, offset, offset + whole.length, whole, 0, whole.length)
            && (half < 0 || ((packed[offset + whole.length] >> 4) & 15) == half);
  }

  /** A set of whole keys. */
  final class Exact implements KeyMatcher {
    private final Map<Long, byte[][]> byHash = new HashMap<>();

    void add(Keys keys) {
      for (int i = 0; i < keys.size(); i++) {
        byte[] key = keys.key(i);
        if (!matches(key, 0, key.length)) {
          byHash.merge(
              hash(key, 0, key.length),
              new byte[][] {key},
              (some, more) -> {
                byte[][] all = Arrays.copyOf(some, some.length + 1);
                all[some.length] = more[0];
                return all;
              });
        }
      }
    }

    @Override
    public boolean matches(byte[] packed, int offset, int length) {
      byte[][] candidates = byHash.get(hash(packed, offset, length));
      if (candidates != null) {
        for (byte[] key : candidates) {
          if (Arrays.equals(packed, offset, offset + length, key, 0, key.length)) {
            return true;
          }
        }
      }
      return false;
    }

    private static long hash(byte[] packed, int offset, int length) {
      long hash = length;
      for (int i = offset; i < offset + length; i++) {
        hash = (hash * 0x100000001B3L) ^ packed[i];
      }
      return hash;
    }
  }
}
