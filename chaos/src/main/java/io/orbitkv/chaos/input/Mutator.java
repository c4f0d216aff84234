package io.orbitkv.chaos.input;

import java.util.Arrays;
import java.util.Random;

/** Damages bytes the way broken and hostile programs do. */
final class Mutator {
  private static final long[] EXTREMES = {
    0,
    1,
    -1,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    0xFFFF_FFFFL,
    0x8000_0000L,
    0x7FFF_FFFFL,
    256,
    1L << 53,
    -64
  };

  private final Random random;

  Mutator(Random random) {
    this.random = random;
  }

  /** Changes some bytes of a copy; never those from {@code sparedFrom} to {@code sparedTo}. */
  byte[] damage(byte[] original, int sparedFrom, int sparedTo) {
    byte[] bytes = original.clone();
    for (int left = 1 + random.nextInt(3); left > 0; left--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt(256);
        case 2 -> put(bytes, at & -8, EXTREMES[random.nextInt(EXTREMES.length)], 8);
        default -> put(bytes, at & -4, EXTREMES[random.nextInt(EXTREMES.length)], 4);
      }
    }
    System.arraycopy(original, sparedFrom, bytes, sparedFrom, sparedTo - sparedFrom);
    return bytes;
  }

  /** Cuts, repeats or damages a text. */
  byte[] damageText(byte[] original) {
    return switch (random.nextInt(5)) {
      case 0 -> Arrays.copyOf(original, random.nextInt(original.length));
      case 1 -> {
        int from = random.nextInt(original.length);
        int length = random.nextInt(original.length - from);
        byte[] twice = new byte[original.length + length];
        System.arraycopy(original, 0, twice, 0, from + length);
        System.arraycopy(original, from, twice, from + length, original.length - from);
        yield twice;
      }
      case 2 -> digits(original);
      default -> damage(original, 0, 0);
    };
  }

  /** Replaces one run of digits by a number at a limit. */
  private byte[] digits(byte[] original) {
    String text = new String(original, java.nio.charset.StandardCharsets.UTF_8);
    int at = random.nextInt(text.length());
    for (int i = 0; i < text.length(); i++) {
      int from = (at + i) % text.length();
      if (Character.isDigit(text.charAt(from))) {
        int to = from;
        while (to < text.length() && Character.isDigit(text.charAt(to))) {
          to++;
        }
        String number =
            switch (random.nextInt(4)) {
              case 0 -> Long.toString(EXTREMES[random.nextInt(EXTREMES.length)]);
              case 1 -> "1e308";
              case 2 -> "9".repeat(1 + random.nextInt(400));
              default -> "-0.5";
            };
        return (text.substring(0, from) + number + text.substring(to))
            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
      }
    }
    return original.clone();
  }

  private static void put(byte[] bytes, int at, long value, int width) {
    for (int i = 0; i < width && at + i < bytes.length; i++) {
      bytes[at + i] = (byte) (value >>> (8 * i));
    }
  }
}
