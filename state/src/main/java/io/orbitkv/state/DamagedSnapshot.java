package io.orbitkv.state;

import java.io.IOException;

/** A checkpoint cannot be used: it is cut, damaged, or of a version that this build cannot read. */
public final class DamagedSnapshot extends IOException {
  private static final long serialVersionUID = 1L;

  DamagedSnapshot(String reason) {
    super(reason);
  }

  DamagedSnapshot(String reason, Throwable cause) {
    super(reason, cause);
  }
}
