package io.orbitkv.state;

import java.util.Arrays;

/**
 * Where the slices of one {@link BlockChunk} lie on SSD: 16 bytes a slice. Length and checksum are
 * those of the slice in DRAM, whose columns keep them while the slice is on SSD only.
 */
final class SsdColumns {
  static final long NONE = -1;

  private static final int FILE_BITS = 12;

  /** The most files of a tier. */
  static final int MAX_FILES = 1 << FILE_BITS;

  /**
   * Offset and file in one number, {@link #NONE} where there is no copy. Offsets are 4 KiB apart.
   */
  final long[] place;

  final long[] generation;

  SsdColumns(int size) {
    place = new long[size];
    generation = new long[size];
    Arrays.fill(place, NONE);
  }

  /** The offset is a multiple of 4,096, so its low bits have room for the file. */
  static long place(int file, long offset) {
    return offset | file;
  }

  static int file(long place) {
    return (int) place & (MAX_FILES - 1);
  }

  static long offset(long place) {
    return place & -MAX_FILES;
  }

  long heapBytes() {
    return 16L * place.length + 2 * 16 + 24;
  }
}
