package io.orbitkv.chaos;

/** How often a suite repeats, and from which seed. */
final class Rounds {
  private Rounds() {}

  /**
   * The rounds of a run.
   *
   * @param property overrides them
   * @param few in a normal run
   * @param many in a run with {@code --long}
   */
  static int of(String property, int few, int many) {
    int rounds = Integer.getInteger(property, Boolean.getBoolean("orbitkv.long") ? many : few);
    if (rounds < many) {
      System.out.printf(
          "%d rounds of %d; --long or -D%s=%d runs them all%n", rounds, many, property, many);
    }
    return rounds;
  }

  static long seed() {
    return Long.getLong("orbitkv.test.seed", System.nanoTime());
  }

  /** Says what a suite saw and how to see it again. */
  static void print(String suite, String test, long seed, Record report) {
    System.out.printf(
        "%s: %s; repeat with ./orbitkv test chaos -Dtest=%s -Dorbitkv.test.seed=%d%n",
        suite, report, test, seed);
  }
}
