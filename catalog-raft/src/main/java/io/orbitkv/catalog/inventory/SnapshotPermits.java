package io.orbitkv.catalog.inventory;

/**
 * How many snapshots may be held for sending at one time, and their numbers. Belongs to one thread.
 */
final class SnapshotPermits {
  private int free;
  private long snapshots;

  SnapshotPermits(int atOneTime) {
    this.free = atOneTime;
  }

  boolean tryAcquire() {
    if (free == 0) {
      return false;
    }
    free--;
    return true;
  }

  void release() {
    free++;
  }

  /** A number that this run has not given before. */
  long nextSnapshot() {
    return ++snapshots;
  }
}
