package io.orbitkv.manager;

import io.orbitkv.core.Command;
import io.orbitkv.core.LoopThread;
import io.orbitkv.core.Reply;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The loop on its thread, and how it ends in order. */
final class RunningLoop {
  private static final Logger LOG = LoggerFactory.getLogger(RunningLoop.class);

  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(3);
  private static final Duration JOIN_LIMIT = Duration.ofMillis(500);

  private final LoopThread thread;
  private final LoopClient client;

  RunningLoop(LoopThread thread, LoopClient client) {
    this.thread = thread;
    this.client = client;
  }

  LoopClient client() {
    return client;
  }

  /**
   * Drains and ends the epoch.
   *
   * @return false if that took too long: the loop may still run, and what it uses must stay
   */
  boolean end(String reason) {
    Optional<Reply> ended = client.ask(sink -> new Command.Shutdown(reason, sink), DRAIN_LIMIT);
    if (!(ended.orElse(null) instanceof Reply.ShutDown(long position))) {
      LOG.warn(
          "the epoch did not end within {} s; the next start will close what is open",
          DRAIN_LIMIT.toSeconds());
      return false;
    }
    try {
      if (!thread.join(JOIN_LIMIT)) {
        LOG.warn("the loop's thread does not end");
        return false;
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
    LOG.info("the epoch ended at journal position {}", position);
    return true;
  }
}
