package io.orbitkv.manager.bench;

import java.util.List;
import java.util.Locale;

/**
 * One kind of load on a disk.
 *
 * @param bytes of each operation
 * @param depth operations in flight
 */
record DiskLoad(int bytes, int depth, boolean random, boolean write) {
  /** All that {@code bench ssd} measures. */
  static final List<DiskLoad> ALL =
      List.of(
          new DiskLoad(4 << 10, 32, true, false),
          new DiskLoad(256 << 10, 16, false, false),
          new DiskLoad(256 << 10, 16, true, false),
          new DiskLoad(1 << 20, 8, false, false),
          new DiskLoad(1 << 20, 8, true, false),
          new DiskLoad(256 << 10, 16, false, true),
          new DiskLoad(256 << 10, 16, true, true),
          new DiskLoad(1 << 20, 8, false, true),
          new DiskLoad(1 << 20, 8, true, true));

  /** For example {@code random read, 4 KiB, depth 32}. */
  String text() {
    String size = bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    return String.format(
        Locale.ROOT,
        "%s %s, %s, depth %d",
        random ? "random" : "sequential",
        write ? "write" : "read",
        size,
        depth);
  }

  /** Small operations are told in operations a second. */
  boolean small() {
    return bytes < 64 << 10;
  }
}
