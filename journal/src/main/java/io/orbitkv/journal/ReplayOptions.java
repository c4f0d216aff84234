package io.orbitkv.journal;

/**
 * What to fold and how closely to look.
 *
 * @param start where to begin
 * @param toPosition stop after the fact at this position
 * @param toMicros stop before the first fact later than this, microseconds since 1970
 * @param digests which of the digests that the daemon recorded are compared
 * @param deepCheckEvery check every invariant after each so many facts, 0 for never
 * @param readAhead read and decode on a second thread
 */
public record ReplayOptions(
    Start start,
    long toPosition,
    long toMicros,
    Digests digests,
    long deepCheckEvery,
    boolean readAhead) {

  /** Where a fold begins. */
  public enum Start {
    /** At the newest checkpoint that is not behind the end: the fewest facts. */
    NEWEST_CHECKPOINT,
    /** At the oldest fact from which the state can be known: the most facts. */
    OLDEST_FACT
  }

  /** Which recorded digests are compared with the fold's. */
  public enum Digests {
    /** As many as cost little: at least one for so many facts as there are blocks. */
    SOME,
    /** Each. */
    ALL
  }

  public static final ReplayOptions QUICK =
      new ReplayOptions(
          Start.NEWEST_CHECKPOINT, Long.MAX_VALUE, Long.MAX_VALUE, Digests.SOME, 0, true);

  public static final ReplayOptions VERIFY =
      new ReplayOptions(Start.OLDEST_FACT, Long.MAX_VALUE, Long.MAX_VALUE, Digests.ALL, 1, true);

  public ReplayOptions from(Start where) {
    return new ReplayOptions(where, toPosition, toMicros, digests, deepCheckEvery, readAhead);
  }

  public ReplayOptions toPosition(long position) {
    return new ReplayOptions(start, position, toMicros, digests, deepCheckEvery, readAhead);
  }

  public ReplayOptions toTime(long micros) {
    return new ReplayOptions(start, toPosition, micros, digests, deepCheckEvery, readAhead);
  }

  public ReplayOptions deepCheckEvery(long facts) {
    return new ReplayOptions(start, toPosition, toMicros, digests, facts, readAhead);
  }

  /** Leaves the other processors to others. */
  public ReplayOptions onOneThread() {
    return new ReplayOptions(start, toPosition, toMicros, digests, deepCheckEvery, false);
  }
}
