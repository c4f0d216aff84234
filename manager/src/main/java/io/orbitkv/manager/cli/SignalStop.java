package io.orbitkv.manager.cli;

import io.orbitkv.manager.Daemon;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What SIGTERM and SIGINT do to the daemon: it stops in order, and one that is still starting first
 * ends its start, which may have opened the socket already. Made before the start begins, so that
 * no signal falls between the two.
 */
final class SignalStop {
  private static final Logger LOG = LoggerFactory.getLogger(SignalStop.class);

  /** A start that takes longer has promised nothing yet: it is cut off. */
  private static final int START_LIMIT_MILLIS = 3_000;

  /** Empty when the start failed. */
  private final CompletableFuture<Optional<Daemon>> start = new CompletableFuture<>();

  private SignalStop() {}

  static SignalStop register() {
    SignalStop stop = new SignalStop();
    Runtime.getRuntime()
        .addShutdownHook(Thread.ofPlatform().name("orbitkv-stop").unstarted(stop::stop));
    return stop;
  }

  void started(Daemon daemon) {
    start.complete(Optional.of(daemon));
  }

  /** There is nothing to stop; whoever started says why. */
  void failed() {
    start.complete(Optional.empty());
  }

  /** The JVM would report a signal as 143; an orderly end is 0. */
  private void stop() {
    try {
      Optional<Daemon> daemon = start.get(START_LIMIT_MILLIS, TimeUnit.MILLISECONDS);
      if (daemon.isPresent()) {
        LOG.info("stopping: draining");
        end(daemon.get().stop("signal") ? ExitCode.OK : ExitCode.FAILED);
      }
    } catch (TimeoutException slow) {
      LOG.warn("stopped during a start that takes longer than {} ms", START_LIMIT_MILLIS);
      end(ExitCode.FAILED);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void end(int status) {
    System.err.flush();
    System.out.flush();
    Runtime.getRuntime().halt(status);
  }
}
