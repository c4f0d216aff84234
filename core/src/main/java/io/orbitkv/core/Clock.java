package io.orbitkv.core;

/** The loop's only sense of time. */
public interface Clock {
  /** Wall clock, microseconds since 1970; what facts are stamped with. */
  long wallMicros();

  /**
   * A clock that never steps back, microseconds from an arbitrary origin; what deadlines are
   * measured with.
   */
  long monotonicMicros();

  Clock SYSTEM =
      new Clock() {
        @Override
        public long wallMicros() {
          var now = java.time.Instant.now();
          return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
        }

        @Override
        public long monotonicMicros() {
          return System.nanoTime() / 1_000;
        }
      };
}
