package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.disk.LoopDisk;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A real disk of which the kernel holds the writes back: the tier lies on an ext4 of its own, which
 * is frozen under load. Reads go on, so the daemon need not call it hanging; nobody waits for the
 * writes, and they end when it thaws.
 */
final class FrozenDisk {
  private static final int MEBIBYTES = 64;
  private static final int WARM_UP_MILLIS = 2_000;
  private static final int WELL_MILLIS = 30_000;

  private FrozenDisk() {}

  /**
   * Freezes it once.
   *
   * @param dir an empty folder with a short path
   * @return what was measured, or why this cannot be tried here
   */
  static String run(Daemons daemons, Path dir, int seconds, long seed)
      throws IOException, InterruptedException {
    LoopDisk disk;
    try {
      disk =
          LoopDisk.mount(
              dir.resolve("image"), Files.createDirectory(dir.resolve("mounted")), MEBIBYTES);
    } catch (IOException cannot) {
      return "not tried: " + cannot.getMessage();
    }
    try (disk) {
      return freeze(daemons, dir, disk, seconds, seed);
    }
  }

  private static String freeze(Daemons daemons, Path dir, LoopDisk disk, int seconds, long seed)
      throws IOException, InterruptedException {
    ManagerProcess manager =
        daemons.start(dir, SsdFaultSuite.flags(disk.path().resolve("cache.ssd")));
    try (Stage stage = new Stage(manager, seed)) {
      AtomicLong frozen = new AtomicLong();
      Thread.sleep(WARM_UP_MILLIS);
      stage.measure(
          "a frozen file system for " + seconds + " s",
          frozen::get,
          () -> {
            Latencies sound = new Latencies();
            Latencies faulty = new Latencies();
            stage.watch(sound, seconds * 500);
            long operations = stage.load.operations();
            disk.freeze();
            try {
              frozen.incrementAndGet();
              stage.watch(faulty, seconds * 1_000);
              if (stage.load.operations() == operations) {
                throw new AssertionError("nothing was served any more");
              }
            } finally {
              disk.thaw();
            }
            stage.probe.awaitWell(WELL_MILLIS);
            stage.watch(sound, seconds * 500);
            return new Latencies[] {sound, faulty};
          });
      stage.expectTierAtWork();
      stage.drain();
      stage.end();
      return stage.measured().getFirst();
    } finally {
      manager.close();
    }
  }
}
