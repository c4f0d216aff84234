package io.orbitkv.journal;

/**
 * When appended facts are written to the disk itself, and so survive a power cut. A process death
 * never loses any.
 */
public sealed interface SyncMode {

  /**
   * A background thread flushes; the loop never waits.
   *
   * @param intervalMillis between flushes, 1 to 60,000
   */
  record Background(int intervalMillis) implements SyncMode {
    public Background {
      if (intervalMillis < 1 || intervalMillis > 60_000) {
        throw new IllegalArgumentException(
            "flush interval is 1 to 60000 ms, not " + intervalMillis);
      }
    }
  }

  /** {@link Journal#endBatch} waits for the disk. */
  record EachBatch() implements SyncMode {}

  /** The operating system decides; an orderly close still flushes. */
  record None() implements SyncMode {}

  SyncMode DEFAULT = new Background(100);
}
