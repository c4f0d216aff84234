package io.orbitkv.state;

import java.util.Random;
import java.util.function.Consumer;

/**
 * Repeats a test with values at random. Each try has a seed of its own; a failure names it with the
 * command that repeats that try alone.
 */
public final class SeededTries {

  private static final String SEED = "orbitkv.test.seed";

  private SeededTries() {}

  public static void run(int tries, Consumer<Random> body) {
    StackWalker.StackFrame caller =
        StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst()).orElseThrow();
    String wanted = System.getProperty(SEED);
    long first = wanted == null ? new Random().nextLong() : Long.parseLong(wanted);
    int count = wanted == null ? tries : 1;
    for (int i = 0; i < count; i++) {
      long seed = first + i;
      try {
        body.accept(new Random(seed));
      } catch (RuntimeException | AssertionError failure) {
        String test = caller.getClassName() + "#" + caller.getMethodName();
        throw new AssertionError(
            "seed "
                + seed
                + " fails; repeat: ./orbitkv test state -Dtest='"
                + test
                + "' -D"
                + SEED
                + "="
                + seed,
            failure);
      }
    }
  }

  public static byte[] bytes(Random random, int minLength, int maxLength) {
    byte[] bytes = new byte[random.nextInt(minLength, maxLength + 1)];
    random.nextBytes(bytes);
    return bytes;
  }
}
