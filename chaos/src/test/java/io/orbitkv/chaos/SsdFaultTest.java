package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.ssd.SsdFaultSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class SsdFaultTest {
  @Test
  void shouldRestoreNoWrongByteAndServeFromMemoryWhateverTheDiskDoes() throws Exception {
    int hangSeconds = Rounds.of("orbitkv.hang.seconds", 3, 30);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      SsdFaultSuite.Report report =
          SsdFaultSuite.run(Daemons.HONEST, dir.path(), hangSeconds, seed);
      Rounds.print("faults of the SSD tier's disk", "SsdFaultTest", seed, report);
      assertTrue(report.failedBlocks() > 0);
    }
  }
}
