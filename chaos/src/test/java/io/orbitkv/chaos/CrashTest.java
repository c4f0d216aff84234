package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.crash.CrashSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class CrashTest {
  /** The budget is 3 s where nothing else runs; any JVM takes several seconds beside a build. */
  private static final int START_LIMIT_MILLIS = 15_000;

  @Test
  void shouldKeepEveryPromiseWhenTheDaemonIsKilledAtRandomMoments() throws Exception {
    int kills = Rounds.of("orbitkv.kills", 6, 200);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      CrashSuite.Report report = CrashSuite.run(Daemons.HONEST, dir.path(), kills, seed);
      Rounds.print("kill -9 of the daemon", "CrashTest", seed, report);
      assertTrue(report.promises() > 0);
      assertTrue(report.deadRefused() > 0);
      assertTrue(report.medianStartMillis() < START_LIMIT_MILLIS, report::toString);
    }
  }
}
