package io.orbitkv.manager;

import io.orbitkv.client.control.Health;
import io.orbitkv.core.HostConfig;
import io.orbitkv.core.Inspection;
import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalStats;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.manager.endpoint.EpollIdle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Whether the daemon is well, from what it shows without being asked: the loop's heartbeat and the
 * journal's figures. So it answers at once also when the loop does not.
 */
public final class HealthCheck {
  private static final long STALLED_NANOS = 2_000_000_000L;

  private final Journal journal;
  private final EpollIdle idle;
  private final HostConfig config;
  private final LongSupplier uptimeMillis;
  private volatile Optional<SsdParts> ssd = Optional.empty();
  private volatile Supplier<List<String>> gpus = List::of;
  private volatile Supplier<List<String>> cluster = List::of;
  private final FileWatch files = new FileWatch();
  private volatile boolean draining;

  HealthCheck(Journal journal, EpollIdle idle, HostConfig config, LongSupplier uptimeMillis) {
    this.journal = journal;
    this.idle = idle;
    this.config = config;
    this.uptimeMillis = uptimeMillis;
  }

  /** Asks the SSD tier too. */
  void watch(Optional<SsdParts> parts) {
    ssd = parts;
  }

  /** Asks the GPUs too. */
  void watch(Supplier<List<String>> problemsOfGpus) {
    gpus = problemsOfGpus;
  }

  /** Asks how it is with other hosts too. */
  void watch(Cluster among) {
    cluster = among::problems;
  }

  /** The files of the daemon that somebody may delete under it. */
  FileWatch files() {
    return files;
  }

  /** A stop was asked for. */
  void drain() {
    draining = true;
  }

  public Health.State state() {
    if (draining) {
      return Health.State.DRAINING;
    }
    return problems().isEmpty() ? Health.State.SERVING : Health.State.DEGRADED;
  }

  /** What does not work, for people; empty when all is well. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    long silentNanos = System.nanoTime() - idle.heartbeatNanos();
    if (silentNanos > STALLED_NANOS) {
      problems.add("the loop has not come round for " + silentNanos / 1_000_000 + " ms");
    }
    JournalStats stats = journal.stats();
    stats.problem().ifPresent(problem -> problems.add("journal: " + problem));
    problems.addAll(files.problems());
    ssd.ifPresent(parts -> problems.addAll(parts.problems()));
    problems.addAll(gpus.get());
    problems.addAll(cluster.get());
    return problems;
  }

  /** The answer to HEALTH. Loop thread. */
  Health report(Inspection.StatusAnswer status) {
    List<String> problems = problems();
    if (!status.journalHasRoom()) {
      problems.add("the journal has no room: publishes are refused until its disk has");
    }
    boolean well = problems.isEmpty();
    return new Health(
        draining || status.draining()
            ? Health.State.DRAINING
            : well ? Health.State.SERVING : Health.State.DEGRADED,
        status.epoch(),
        "orbitkv/" + Version.TEXT,
        uptimeMillis.getAsLong(),
        (int) Math.min(Integer.MAX_VALUE, status.sessions()),
        config.poolBytes(),
        status.pool().usedBytes(),
        status.position(),
        problems);
  }
}
