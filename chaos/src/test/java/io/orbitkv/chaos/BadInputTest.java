package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.input.BadInputSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class BadInputTest {
  @Test
  void shouldRefuseMutatedInputWithoutAnybodyElseNoticing() throws Exception {
    int inputs = Rounds.of("orbitkv.inputs", 5_000, 100_000);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      BadInputSuite.Report report = BadInputSuite.run(Daemons.HONEST, dir.path(), inputs, seed);
      Rounds.print("bad input", "BadInputTest", seed, report);
      assertTrue(report.witnessRounds() > 0);
    }
  }
}
