package io.orbitkv.catalog.calls;

/** Bounds what is under way with one host: calls, and bytes of their requests. Thread-safe. */
public final class CallBudget {
  private final int maxCalls;
  private final long maxBytes;
  private int calls;
  private long bytes;
  private long refused;

  /** A budget of so many calls and bytes, each at least 1. */
  public CallBudget(int maxCalls, long maxBytes) {
    if (maxCalls < 1 || maxBytes < 1) {
      throw new IllegalArgumentException("budget " + maxCalls + " calls, " + maxBytes + " bytes");
    }
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
  }

  /** Takes a call of so many bytes, if it fits; {@link #release} gives it back. */
  public synchronized boolean tryAcquire(long callBytes) {
    if (calls >= maxCalls || callBytes > maxBytes - bytes) {
      refused++;
      return false;
    }
    calls++;
    bytes += callBytes;
    return true;
  }

  /** Gives a call back. */
  public synchronized void release(long callBytes) {
    calls--;
    bytes -= callBytes;
    if (calls < 0 || bytes < 0) {
      throw new IllegalStateException("more was released than taken");
    }
  }

  /** Calls under way. */
  public synchronized int calls() {
    return calls;
  }

  /** Bytes under way. */
  public synchronized long bytes() {
    return bytes;
  }

  /** How many calls did not fit, ever. */
  public synchronized long refused() {
    return refused;
  }

  @Override
  public synchronized String toString() {
    return "%d of %d calls, %d of %d bytes".formatted(calls, maxCalls, bytes, maxBytes);
  }
}
