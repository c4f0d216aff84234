package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.ssd.SsdCrashSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class SsdCrashTest {
  /** The budget is 3 s where nothing else runs; any JVM takes several seconds beside a build. */
  private static final int SERVED_LIMIT_MILLIS = 15_000;

  @Test
  void shouldFindOnSsdExactlyWhatTheJournalSaysWhenTheDaemonIsKilled() throws Exception {
    int kills = Rounds.of("orbitkv.kills", 4, 100);
    long seed = Rounds.seed();
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      SsdCrashSuite.Report report = SsdCrashSuite.run(Daemons.HONEST, dir.path(), kills, seed);
      Rounds.print("kill -9 of the daemon with an SSD tier", "SsdCrashTest", seed, report);
      assertTrue(report.ssdHits() > 0);
      assertTrue(report.ssdMisses() > 0);
      assertTrue(report.deadRefused() > 0);
      assertTrue(report.medianServedMillis() < SERVED_LIMIT_MILLIS, report::toString);
    }
  }
}
