package io.orbitkv.manager;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.ffi.Preload;
import io.orbitkv.ffi.ThreadNice;
import io.orbitkv.journal.Recovery;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Does on a second processor what every start of a daemon will need and what waits for nothing:
 * links the C functions and loads Chronicle, while the first one reads the command line and folds
 * the journal. The daemon is the same without it.
 */
public final class StartAhead {
  private static final int LOG_SECONDS = 30;
  private static final String COMPILER_THREADS = "C2 ";
  private static final int COMPILER_NICE = 5;

  /** Chronicle has loggers, and the first logger freezes the log's settings. */
  private static final CountDownLatch LOG_SET_UP = new CountDownLatch(1);

  private StartAhead() {}

  /** Begins; returns at once. */
  static void begin() {
    Thread.ofPlatform().daemon().name("orbitkv-start-ahead").start(StartAhead::run);
  }

  /** The log's settings are final: whatever has a logger may be loaded. */
  public static void logIsSetUp() {
    LOG_SET_UP.countDown();
  }

  /**
   * The JVM's optimizing compiler has most to do while the start wants all processors, and what it
   * makes ready then is for later.
   */
  private static void yieldCompiler() {
    try {
      var _ = ThreadNice.lower(COMPILER_THREADS, COMPILER_NICE);
    } catch (IOException unlisted) {
      LoggerFactory.getLogger(StartAhead.class).debug("the compiler keeps its share", unlisted);
    }
  }

  private static void run() {
    try {
      yieldCompiler();
      Preload.run();
      if (LOG_SET_UP.await(LOG_SECONDS, TimeUnit.SECONDS)) {
        Recovery.prepare();
        LoggerFactory.getLogger(StartAhead.class).debug("copies: {}", Checksum.streaming());
      }
    } catch (RuntimeException | LinkageError failed) {
      // The start itself will meet the same, and knows what it means.
      LoggerFactory.getLogger(StartAhead.class).debug("nothing was prepared", failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
