package io.orbitkv.manager;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.LoadFailure;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log what a person should know of at night while the daemon serves: bytes that have
 * changed, a disk that is ill and well again, a journal without room. It sees each fact as it is
 * appended; of what may come in thousands it writes a line a second with how many were left out.
 */
final class TroubleLog {
  private static final Logger LOG = LoggerFactory.getLogger(TroubleLog.class);

  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final LongSupplier nanos;
  private final Consumer<String> lines;
  private final Bounded memory;
  private final Bounded disk;
  private boolean full;

  TroubleLog() {
    this(System::nanoTime, LOG::warn);
  }

  /**
   * @param nanos a clock that only goes forward
   * @param lines takes what is said
   */
  TroubleLog(LongSupplier nanos, Consumer<String> lines) {
    this.nanos = nanos;
    this.lines = lines;
    this.memory = new Bounded();
    this.disk = new Bounded();
  }

  /** A fact was appended. */
  void appended(HostEvent event) {
    if (event instanceof HostEvent.TierFact || event instanceof HostEvent.VerifyFailed) {
      say(event);
    }
  }

  /** Whether the journal had room for what was asked. */
  void room(boolean has) {
    if (full == has) {
      full = !has;
      lines.accept(
          has
              ? "journal: there is room again"
              : "journal: no room on its disk: publishes, leases and restores are refused until there is");
    }
  }

  private void say(HostEvent event) {
    switch (event) {
      // One of a read from SSD, or of a kept pool, is told with the block that is missed for it.
      case HostEvent.VerifyFailed(long block, _, long restore, long expected, long actual)
          when restore != 0 ->
          memory.say(
              "restore: block %d has checksum %016x and had %016x when it was published; it is dropped: check the host's memory"
                  .formatted(block, actual, expected),
              1);
      case HostEvent.LoadFailed failed
          when failed.reason() != LoadFailure.CANCELLED && failed.reason() != LoadFailure.RESTART ->
          disk.say(
              "SSD tier: %d blocks were not read back, and are misses: %s"
                  .formatted(failed.blocks().size(), failed.detail()),
              failed.blocks().size());
      case HostEvent.TierDegraded(var trouble, String detail) ->
          lines.accept("SSD tier: " + trouble + ": " + detail);
      case HostEvent.TierRecovered(var trouble) ->
          lines.accept("SSD tier: well again, it was " + trouble);
      default -> {}
    }
  }

  /** One kind of line, at most one a second. */
  private final class Bounded {
    private long nextNanos = nanos.getAsLong();
    private long left;

    void say(String line, long blocks) {
      long now = nanos.getAsLong();
      if (now - nextNanos < 0) {
        left += blocks;
        return;
      }
      lines.accept(left == 0 ? line : line + " (and " + left + " more since the last such line)");
      left = 0;
      nextNanos = now + PAUSE_NANOS;
    }
  }
}
