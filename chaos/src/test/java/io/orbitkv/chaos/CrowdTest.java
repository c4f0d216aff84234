package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.input.CrowdSuite;
import io.orbitkv.chaos.input.HeldUpSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class CrowdTest {
  @Test
  void shouldServeOthersWhileThousandsComeAndGoAndSomeNeverFinishAFrame() throws Exception {
    int connects = Rounds.of("orbitkv.connects", 1_000, 10_000);
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      CrowdSuite.Report report = CrowdSuite.run(Daemons.HONEST, dir.path(), connects);
      System.out.println("a crowd of connections: " + report);
      assertTrue(report.witnessRounds() > 0);
    }
  }

  @Test
  void shouldNotBeHeldUpByAClientThatFillsItsEventfd() throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      HeldUpSuite.Report report = HeldUpSuite.run(Daemons.HONEST, dir.path(), 5);
      System.out.println("filled eventfds: " + report);
      assertTrue(report.witnessRounds() > 0);
    }
  }
}
