package io.orbitkv.client.wire;

import java.util.Random;

/** Seeds of random tests: printed always, so that a failure can be repeated. */
public final class Random64 {
  private Random64() {}

  /** A generator whose seed is printed, or given by {@code -Dorbitkv.seed}. */
  public static Random seeded(Class<?> test) {
    long seed = Long.getLong("orbitkv.seed", System.nanoTime());
    System.out.printf(
        "%s seed %d, repeat: ./orbitkv test client -Dtest=%s -Dorbitkv.seed=%d%n",
        test.getSimpleName(), seed, test.getSimpleName(), seed);
    return new Random(seed);
  }
}
