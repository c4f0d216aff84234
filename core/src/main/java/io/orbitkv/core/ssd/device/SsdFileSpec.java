package io.orbitkv.core.ssd.device;

import java.nio.file.Path;

/**
 * One file of the tier, as asked for.
 *
 * @param path of the file; or of a folder, in which it is then named {@value #NAME}
 * @param bytes its whole length, the header page included: a multiple of 4096, at least 8192
 */
public record SsdFileSpec(Path path, long bytes) {
  /** The file's name where only a folder was given. */
  public static final String NAME = "orbitkv.ssd";

  /** Checks the length. */
  public SsdFileSpec {
    if (bytes < 2L * SsdDevice.ALIGNMENT_BYTES || bytes % SsdDevice.ALIGNMENT_BYTES != 0) {
      throw new IllegalArgumentException(
          "a file of the SSD tier has at least 8192 bytes, in pages of 4096, not " + bytes);
    }
  }
}
