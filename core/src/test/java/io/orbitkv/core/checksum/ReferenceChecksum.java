package io.orbitkv.core.checksum;

/**
 * The formula of {@code docs/checksum.md}, word by word and with nothing shared with the product.
 */
final class ReferenceChecksum {
  private static final long STEP = 0x9E3779B97F4A7C15L;

  private ReferenceChecksum() {}

  static long partialSum(byte[] data, int offset, int bytes, long basePosition) {
    long total = 0;
    for (int at = 0; at < bytes; at += 8) {
      long word = 0;
      for (int b = 0; b < 8 && at + b < bytes; b++) {
        word |= (long) (data[offset + at + b] & 0xFF) << (8 * b);
      }
      total += weightedTerm(word, (basePosition + at) / 8);
    }
    return total;
  }

  static long value(byte[] data) {
    return mix(partialSum(data, 0, data.length, 0) + mix(data.length + 0xA4093822299F31D0L));
  }

  private static long weightedTerm(long word, long index) {
    long chunk = index / 512;
    long j = index % 512;
    long tableWord = mix((j + 1) * STEP);
    long key = mix(chunk * STEP + 0x243F6A8885A308D3L);
    long weight = mix(chunk * STEP + 0x13198A2E03707344L) | 1;
    long x = word + tableWord + key;
    long low = x & 0xFFFFFFFFL;
    long high = x >>> 32;
    return weight * (low * high + word);
  }

  private static long mix(long value) {
    long z = value;
    z ^= z >>> 30;
    z *= 0xBF58476D1CE4E5B9L;
    z ^= z >>> 27;
    z *= 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
