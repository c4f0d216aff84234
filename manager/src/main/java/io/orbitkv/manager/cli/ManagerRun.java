package io.orbitkv.manager.cli;

import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.manager.StartAhead;
import io.orbitkv.manager.StartFailure;
import io.orbitkv.manager.config.DaemonConfig;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import org.slf4j.LoggerFactory;

/** Runs the daemon in the foreground, once its settings are known. */
public final class ManagerRun {
  private ManagerRun() {}

  /**
   * Returns when the daemon could not start, or its thread is interrupted; a signal ends the
   * process.
   *
   * @param wiring what a harness puts around the loop
   * @throws Failure if it cannot start
   */
  public static int run(DaemonConfig config, LoopWiring wiring) {
    Logging.setUp(config.logLevel());
    StartAhead.logIsSetUp();
    Thread.setDefaultUncaughtExceptionHandler(ManagerRun::threadDied);
    SignalStop signals = SignalStop.register();
    boolean started = false;
    try {
      signals.started(
          Daemon.start(config, wiring, _ -> Runtime.getRuntime().halt(ManagerCommand.BROKEN)));
      started = true;
    } catch (StartFailure failure) {
      throw new Failure(String.valueOf(failure.getMessage()), failure.remedy(), failure);
    } finally {
      if (!started) {
        signals.failed();
      }
    }
    try {
      new CountDownLatch(1).await(); // a signal ends the process
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return ExitCode.OK;
  }

  /**
   * Says what failed and what to do about it.
   *
   * @return what the process ends with
   */
  public static int failed(Failure failure, PrintWriter err) {
    err.println("orbitkv: " + failure.getMessage());
    if (!failure.remedy().isEmpty()) {
      err.println("  " + failure.remedy());
    }
    err.flush();
    return ExitCode.FAILED;
  }

  /** Nothing here may go on without one of its threads. */
  private static void threadDied(Thread thread, Throwable why) {
    LoggerFactory.getLogger(ManagerRun.class)
        .error("thread {} died: the daemon stops", thread.getName(), why);
    Runtime.getRuntime().halt(ManagerCommand.BROKEN);
  }
}
