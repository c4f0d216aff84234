package io.orbitkv.chaos.ssd;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Random;

/** Flips bits in a file of the SSD tier behind the daemon's back. */
final class CacheFile {
  private static final int HEADER_BYTES = 4_096;

  private CacheFile() {}

  /** Flips one bit of the byte at {@code offset}. */
  static void flip(Path file, long offset, int bit) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      flip(open, offset, bit);
    }
  }

  /** Flips so many bits anywhere behind the header. */
  static void flipSome(Path file, int bits, Random random) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      for (int i = 0; i < bits; i++) {
        flip(
            open,
            HEADER_BYTES + random.nextLong(open.length() - HEADER_BYTES),
            random.nextInt(Byte.SIZE));
      }
    }
  }

  private static void flip(RandomAccessFile file, long offset, int bit) throws IOException {
    file.seek(offset);
    int was = file.read();
    file.seek(offset);
    file.write(was ^ 1 << bit);
  }
}
