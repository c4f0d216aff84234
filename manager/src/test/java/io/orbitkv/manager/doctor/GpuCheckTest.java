package io.orbitkv.manager.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.ffi.cuda.FakeCuda;
import io.orbitkv.ffi.cuda.MpsStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuCheckTest {
  @Test
  void shouldListGpusAndSayWhatMpsMeans() {
    List<Finding> findings = GpuCheck.of(new Cuda.Found.Present(new FakeCuda()));
    assertEquals("gpu 0", findings.getFirst().name());
    assertTrue(findings.getFirst().detail().contains("Fake GPU"));
    assertEquals("mps", findings.getLast().name());
    assertTrue(GpuCheck.mps(MpsStatus.NOT_RUNNING).detail().contains("take turns"));
  }

  @Test
  void shouldGiveReasonAndRemedyWithoutADriver() {
    Finding finding = GpuCheck.of(new Cuda.Found.Absent("no library", "install it")).getFirst();
    assertEquals(Finding.Level.WARN, finding.level());
    assertTrue(finding.detail().contains("no library"));
    assertEquals("install it", finding.remedy());
  }
}
