package io.orbitkv.chaos.sim;

import io.orbitkv.core.Clock;

/** Time that moves when the schedule says; the wall clock can be set, also back. */
final class SimClock implements Clock {
  private long monotonicMicros = 1_000_000;
  private long wallAheadMicros = 1_700_000_000_000_000L;

  void advanceMicros(long micros) {
    monotonicMicros += micros;
  }

  /** Moves the wall clock alone. */
  void setWall(long byMicros) {
    wallAheadMicros += byMicros;
  }

  @Override
  public long wallMicros() {
    return monotonicMicros + wallAheadMicros;
  }

  @Override
  public long monotonicMicros() {
    return monotonicMicros;
  }
}
