package io.orbitkv.chaos;

import java.util.concurrent.TimeUnit;

/** Says now and then how far a long run is, to a person who started it by hand. */
public final class Progress {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static volatile boolean on;
  private static long lastNanos = System.nanoTime();

  private Progress() {}

  static void turnOn() {
    on = true;
  }

  /** So much is done. */
  public static synchronized void step(String what, long done, long all) {
    long now = System.nanoTime();
    if (on && now - lastNanos > EVERY_NANOS) {
      lastNanos = now;
      System.err.printf("%s: %d of %d%n", what, done, all);
    }
  }

  /** Something that such a person may want to see at once. */
  public static void say(Object what) {
    if (on) {
      System.err.println(what);
    }
  }
}
