package io.orbitkv.client;

/**
 * Whether a thread looks again for some microseconds before it sleeps. A wake across processors
 * takes as long as a whole small request, so looking pays while answers come soon; after some looks
 * in vain it is tried now and then only, so that slow answers cost no processor time. Not thread
 * safe.
 */
final class Patience {
  /** Looks in vain in a row after which answers are thought to be slow. */
  static final int MISSES_TO_DOUBT = 8;

  /** How often a doubter looks. */
  static final int RETRY_EVERY = 32;

  private final boolean possible;
  private int misses;
  private int declined;

  /**
   * @param processors of this host; with one only the other side cannot answer meanwhile
   */
  Patience(int processors) {
    possible = processors > 1;
  }

  /** Whether to look before this sleep. */
  boolean looks() {
    return possible && (misses < MISSES_TO_DOUBT || ++declined % RETRY_EVERY == 0);
  }

  /** What came of a look. */
  void looked(boolean found) {
    misses = found ? 0 : Math.min(misses + 1, MISSES_TO_DOUBT);
  }
}
