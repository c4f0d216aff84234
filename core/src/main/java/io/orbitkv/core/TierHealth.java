package io.orbitkv.core;

import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.TierDegraded;
import io.orbitkv.state.HostEvent.TierRecovered;
import io.orbitkv.state.HostEvent.TierTrouble;

/**
 * What ails the disk under the SSD tier, and what is still asked of it. A disk without room takes
 * no writes at once, one that fails takes none after three failures in a row, and is tried again
 * later. One that ends no operation for some time hangs: then nothing is begun, so that queries are
 * answered from DRAM, until it goes on.
 */
final class TierHealth {
  private static final int FAILURES_IN_A_ROW = 3;
  private static final int ENOSPC = 28;

  private final Host host;
  private final LiveTier tier;
  private final TierWatch watch = new TierWatch();
  private long progressAtWatch;

  TierHealth(Host host, LiveTier tier) {
    this.host = host;
    this.tier = tier;
  }

  boolean mayRead() {
    return !tier.hanging;
  }

  /** Whether blocks are admitted. */
  boolean takesWrites() {
    return !tier.hanging && tier.writeTrouble == null;
  }

  /** Whether a write may be begun, be it to see whether the disk is well again. */
  boolean mayTryWrite() {
    return !tier.hanging
        && (tier.writeTrouble == null || host.clock.monotonicMicros() >= tier.retryAtMicros);
  }

  /** Blocks wait for a better time to be written. */
  void tryLater() {
    if (tier.retry.heapIndex < 0) {
      host.timers.arm(tier.retry, host.deadline(tier.settings.retryMillis()));
    }
  }

  private void tryNow() {
    host.timers.arm(tier.retry, host.clock.monotonicMicros());
  }

  // ---- failures
  // ----------------------------------------------------------------------------------------------------

  /**
   * A write ended.
   *
   * @param result of the last block that failed
   */
  void wroteBlocks(int done, int failed, int result) {
    if (result == SsdTask.CANCELLED) {
      return;
    }
    tier.writeErrors += failed;
    if (failed == 0) {
      tier.writeFailuresInARow = 0;
      TierTrouble over = tier.writeTrouble;
      if (over != null) {
        tier.writeTrouble = null;
        tier.report.writes("");
        host.emit(new TierRecovered(over));
        tryNow();
      }
      return;
    }
    tier.writeFailuresInARow = done > 0 ? 1 : tier.writeFailuresInARow + 1;
    if (tier.writeTrouble != null) {
      stopWrites();
    } else if (result == ENOSPC) {
      degrade(TierTrouble.DISK_FULL, result);
    } else if (tier.writeFailuresInARow >= FAILURES_IN_A_ROW) {
      degrade(TierTrouble.WRITES_FAIL, result);
    }
  }

  private void degrade(TierTrouble trouble, int result) {
    tier.writeTrouble = trouble;
    stopWrites();
    String detail = describe(result);
    host.emit(new TierDegraded(trouble, detail));
    tier.report.writes(
        "the SSD tier takes no writes: "
            + (trouble == TierTrouble.DISK_FULL ? "no room on the disk" : "they fail, " + detail));
  }

  private void stopWrites() {
    tier.retryAtMicros = host.deadline(tier.settings.retryMillis());
  }

  static String describe(int result) {
    return switch (result) {
      case SsdTask.DONE -> "";
      case SsdTask.SHORT -> "fewer bytes than asked";
      case SsdTask.CHECKSUM -> "another checksum than was written";
      case SsdTask.CANCELLED -> "not begun";
      default -> "errno " + result;
    };
  }

  // ---- hanging
  // -----------------------------------------------------------------------------------------------------

  /** Something was submitted: from here on the disk must show that it works. */
  void watch() {
    if (watch.heapIndex < 0) {
      progressAtWatch = tier.store.progress();
      host.timers.arm(watch, host.deadline(tier.settings.hangMillis()));
    }
  }

  /**
   * A task has ended. That is no sign of life if nothing of it was begun, as with a read that
   * nobody wants any more; but a disk of which nothing is asked does not hang.
   */
  void taskEnded() {
    if (tier.idle() || tier.store.progress() != progressAtWatch) {
      progressed();
    }
    if (tier.idle()) {
      host.timers.cancel(watch);
    }
  }

  private void progressed() {
    if (tier.hanging) {
      tier.hanging = false;
      tier.report.hanging("");
      host.emit(new TierRecovered(TierTrouble.HANGS));
      tryNow();
    }
  }

  /** The time is over in which an operation should have ended. */
  void watchDue() {
    long progress = tier.store.progress();
    if (tier.idle()) {
      return;
    }
    if (progress != progressAtWatch) {
      progressed();
    } else if (!tier.hanging) {
      tier.hanging = true;
      String detail = "no operation ended for %d ms".formatted(tier.settings.hangMillis());
      host.emit(new TierDegraded(TierTrouble.HANGS, detail));
      tier.report.hanging("the SSD tier's disk hangs: " + detail);
    }
    watch();
  }
}
