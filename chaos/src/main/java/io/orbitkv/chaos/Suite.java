package io.orbitkv.chaos;

import io.orbitkv.chaos.crash.CrashSuite;
import io.orbitkv.chaos.crash.StopSuite;
import io.orbitkv.chaos.disk.FullDiskSuite;
import io.orbitkv.chaos.disk.Tmpfs;
import io.orbitkv.chaos.engine.EngineKillSuite;
import io.orbitkv.chaos.input.BadInputSuite;
import io.orbitkv.chaos.input.CrowdSuite;
import io.orbitkv.chaos.input.HeldUpSuite;
import io.orbitkv.chaos.mismatch.MismatchSuite;
import io.orbitkv.chaos.ssd.SsdCrashSuite;
import io.orbitkv.chaos.ssd.SsdFaultSuite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Everything that is broken on purpose, and how often by itself. */
public enum Suite {
  /** {@code kill -9} of the daemon. */
  CRASH("kills", 6, 200) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return CrashSuite.run(daemons, dir, rounds, seed);
    }
  },
  /** {@code kill -9} of engines. */
  ENGINES("kills", 6, 100) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return EngineKillSuite.run(daemons, dir, rounds, seed);
    }
  },
  /** Damaged frames and descriptors. */
  INPUT("inputs", 5_000, 100_000) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return BadInputSuite.run(daemons, dir, rounds, seed);
    }
  },
  /** The journal's disk fills up. */
  DISK("fills", 1, 10) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      try (Tmpfs disk =
          Tmpfs.mount(Files.createDirectory(dir.resolve("journal")), DISK_MEBIBYTES)) {
        return FullDiskSuite.run(daemons, dir, disk, rounds, seed);
      }
    }
  },
  /** Many connections at once. */
  CROWD("connects", 1_000, 10_000) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return CrowdSuite.run(daemons, dir, rounds);
    }
  },
  /** Clients that fill the eventfd which wakes them. */
  HELDUP("attempts", 5, 50) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return HeldUpSuite.run(daemons, dir, rounds);
    }
  },
  /** SIGTERM under load. */
  STOP("stops", 1, 10) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return StopSuite.run(daemons, dir, rounds, seed);
    }
  },
  /** Other formats, and the same keys in two namespaces. */
  MISMATCH("rounds", 1, 1) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return MismatchSuite.run(daemons, dir);
    }
  },
  /** {@code kill -9} of a daemon with an SSD tier. */
  SSD_CRASH("kills", 4, 100) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return SsdCrashSuite.run(daemons, dir, rounds, seed);
    }
  },
  /** The SSD tier's disk fails, lies, fills up and hangs. */
  SSD_FAULTS("seconds of a hang", 3, 30) {
    @Override
    public Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception {
      return SsdFaultSuite.run(daemons, dir, rounds, seed);
    }
  };

  private static final int DISK_MEBIBYTES = 128;

  private final String unit;
  private final int few;
  private final int many;

  /**
   * @param unit what a round is
   * @param few rounds of a short run
   * @param many rounds of a long run
   */
  Suite(String unit, int few, int many) {
    this.unit = unit;
    this.few = few;
    this.many = many;
  }

  public String unit() {
    return unit;
  }

  public int few() {
    return few;
  }

  public int many() {
    return many;
  }

  /** Its word on the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Runs it.
   *
   * @param dir an empty folder with a short path
   * @return the figures
   * @throws AssertionError if a promise did not hold
   */
  public abstract Record run(Daemons daemons, Path dir, int rounds, long seed) throws Exception;
}
