package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.disk.FullDiskSuite;
import io.orbitkv.chaos.disk.Tmpfs;
import io.orbitkv.manager.workload.ScratchDir;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class FullDiskTest {
  private static final int DISK_MEBIBYTES = 128;

  @Test
  void shouldRefuseBeforeItPromisesAndResumeWhenSpaceReturns() throws Exception {
    int fills = Rounds.of("orbitkv.fills", 1, 10);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos");
        Tmpfs disk = mount(Files.createDirectory(dir.path().resolve("journal")))) {
      FullDiskSuite.Report report =
          FullDiskSuite.run(Daemons.HONEST, dir.path(), disk, fills, seed);
      Rounds.print("full journal disk", "FullDiskTest", seed, report);
      assertTrue(report.promises() > 0);
    }
  }

  private static Tmpfs mount(Path at) throws InterruptedException {
    try {
      return Tmpfs.mount(at, DISK_MEBIBYTES);
    } catch (IOException cannot) {
      return Assumptions.abort("a disk that can be filled needs the right to mount: " + cannot);
    }
  }
}
