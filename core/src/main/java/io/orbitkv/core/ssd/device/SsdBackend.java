package io.orbitkv.core.ssd.device;

import java.util.Locale;
import java.util.Optional;

/** Which way to the disk is asked for. */
public enum SsdBackend {
  /** io_uring past the page cache where both are to be had, else pread and pwrite. */
  AUTO,
  /** io_uring, or nothing. */
  URING,
  /** pread and pwrite. */
  POSIX;

  /** Reads a name such as {@code auto}. */
  public static Optional<SsdBackend> parse(String text) {
    for (SsdBackend each : values()) {
      if (each.toString().equals(text)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
