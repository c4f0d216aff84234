package io.orbitkv.core.ssd;

import java.util.concurrent.atomic.AtomicLong;

/** What the device did since the daemon began. Written by one thread, read by any. */
public final class SsdCounters {
  private final AtomicLong readOperations = new AtomicLong();
  private final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong writeOperations = new AtomicLong();
  private final AtomicLong writtenBytes = new AtomicLong();
  private final AtomicLong failedOperations = new AtomicLong();
  private final AtomicLong mismatches = new AtomicLong();

  SsdCounters() {}

  void ended(boolean read, int result) {
    AtomicLong operations = read ? readOperations : writeOperations;
    operations.lazySet(operations.get() + 1);
    if (result < 0) {
      failedOperations.lazySet(failedOperations.get() + 1);
    } else {
      AtomicLong bytes = read ? readBytes : writtenBytes;
      bytes.lazySet(bytes.get() + result);
    }
  }

  void mismatched() {
    mismatches.lazySet(mismatches.get() + 1);
  }

  /** Operations that ended, well or not. */
  public long operations() {
    return readOperations.get() + writeOperations.get();
  }

  public long readOperations() {
    return readOperations.get();
  }

  public long readBytes() {
    return readBytes.get();
  }

  public long writeOperations() {
    return writeOperations.get();
  }

  /** Bytes that the device was given, padding and failed attempts included where it took them. */
  public long writtenBytes() {
    return writtenBytes.get();
  }

  public long failedOperations() {
    return failedOperations.get();
  }

  /** Slices that came back with another sum than they were written with. */
  public long mismatches() {
    return mismatches.get();
  }
}
