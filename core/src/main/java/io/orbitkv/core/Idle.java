package io.orbitkv.core;

/** How the loop's thread rests when a duty cycle found little to do. */
public interface Idle {
  /**
   * Returns soon after a command may have arrived, after {@link #wake}, and in any case after
   * {@code maxNanos}.
   *
   * @param workCount what the duty cycle did; above 0 returns at once
   * @param maxNanos time to the loop's next timer
   */
  void idle(int workCount, long maxNanos);

  /** Ends the present or the next {@link #idle}; from any thread. */
  void wake();
}
