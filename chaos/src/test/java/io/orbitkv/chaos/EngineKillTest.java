package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.engine.EngineKillSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class EngineKillTest {
  @Test
  void shouldHoldNothingOfAnEngineThatWasKilled() throws Exception {
    int kills = Rounds.of("orbitkv.kills", 6, 100);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      EngineKillSuite.Report report = EngineKillSuite.run(Daemons.HONEST, dir.path(), kills, seed);
      Rounds.print("kill -9 of engines", "EngineKillTest", seed, report);
      assertTrue(report.publishesAborted() + report.restoresCancelled() > 0);
      assertTrue(report.queriesClosed() > 0);
    }
  }
}
