package io.orbitkv.core;

/** Time that stands still until it is moved. */
final class FakeClock implements Clock {
  private long micros = 1_000_000;

  void advanceMillis(long millis) {
    micros += millis * 1_000;
  }

  @Override
  public long wallMicros() {
    return micros;
  }

  @Override
  public long monotonicMicros() {
    return micros;
  }
}
