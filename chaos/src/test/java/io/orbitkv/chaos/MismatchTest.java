package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.mismatch.MismatchSuite;
import io.orbitkv.manager.workload.ScratchDir;
import org.junit.jupiter.api.Test;

class MismatchTest {
  @Test
  void shouldNeverMixTheBytesOfFormatsAndNamespaces() throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      MismatchSuite.Report report = MismatchSuite.run(Daemons.HONEST, dir.path());
      System.out.println("formats and namespaces: " + report);
      assertTrue(report.formatsRefused() > 0);
    }
  }
}
