package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.crash.StopSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class StopTest {
  @Test
  void shouldEndInOrderWithinFiveSecondsOfSigterm() throws Exception {
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      StopSuite.Report report = StopSuite.run(Daemons.HONEST, dir.path(), 1, seed);
      Rounds.print("SIGTERM under load", "StopTest", seed, report);
      assertTrue(report.promises() > 0);
    }
  }
}
