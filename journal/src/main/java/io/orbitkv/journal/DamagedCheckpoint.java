package io.orbitkv.journal;

import java.io.IOException;
import java.nio.file.Path;

/** A checkpoint that cannot be used; an older one and more facts can take its place. */
final class DamagedCheckpoint extends IOException {
  private static final long serialVersionUID = 1L;

  DamagedCheckpoint(Path file, String reason) {
    super(file.getFileName() + ": " + reason);
  }
}
