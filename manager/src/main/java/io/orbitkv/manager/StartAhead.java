package io.orbitkv.manager;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.ffi.Preload;
import io.orbitkv.journal.Recovery;
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

  private static void run() {
    try {
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
