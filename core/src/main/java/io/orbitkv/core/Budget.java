package io.orbitkv.core;

/** A bound on bytes that are promised at one time. */
final class Budget {
  private final long limitBytes;
  private long usedBytes;

  Budget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  boolean fits(long bytes) {
    return bytes <= limitBytes - usedBytes;
  }

  /** Whether it could ever fit. */
  boolean possible(long bytes) {
    return bytes <= limitBytes;
  }

  void charge(long bytes) {
    if (!fits(bytes)) {
      throw new IllegalStateException(
          "charged " + bytes + " bytes with " + usedBytes + " of " + limitBytes + " in use");
    }
    usedBytes += bytes;
  }

  void giveBack(long bytes) {
    if (bytes > usedBytes) {
      throw new IllegalStateException("gave back " + bytes + " bytes of " + usedBytes);
    }
    usedBytes -= bytes;
  }

  long usedBytes() {
    return usedBytes;
  }

  long limitBytes() {
    return limitBytes;
  }
}
