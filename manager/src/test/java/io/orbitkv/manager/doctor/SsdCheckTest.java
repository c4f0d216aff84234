package io.orbitkv.manager.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SsdCheckTest {
  @TempDir Path dir;

  @Test
  void shouldSayWhatADiskOffersAndLeaveNothingBehind() throws IOException {
    Finding finding = SsdCheck.of(dir);
    assertTrue(finding.level() != Finding.Level.FAIL, finding.toString());
    assertTrue(finding.detail().matches("(uring|posix): .* free"), finding.toString());
    assertEquals(finding.level() == Finding.Level.OK, finding.remedy().isEmpty());
    try (var left = Files.list(dir)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void shouldFailWhereNoFileCanBeMade() {
    Finding finding = SsdCheck.of(dir.resolve("no/such"));
    assertEquals(Finding.Level.FAIL, finding.level());
    assertTrue(finding.detail().endsWith("no is not a folder"), finding.detail());
  }
}
