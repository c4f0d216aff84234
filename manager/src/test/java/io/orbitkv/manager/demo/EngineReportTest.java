package io.orbitkv.manager.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class EngineReportTest {
  private static final EngineReport REPORT =
      new EngineReport(
          true,
          400,
          4_812_000,
          9_600,
          3_456,
          805_306_368,
          452_984_832,
          0,
          402_653_184,
          226_492_416,
          21_000,
          85_000,
          410_000,
          1_900_000,
          500_000,
          2_000_000,
          "request-0123",
          true);

  @Test
  void shouldSurviveItsLine() {
    assertEquals(REPORT, EngineReport.parse(REPORT.line()));
    assertEquals(2e9, REPORT.publishSpeed(), 1);
    assertThrows(IllegalStateException.class, () -> EngineReport.parse("no json"));
  }

  @Test
  void shouldEndInATable() {
    assertEquals(
        List.of(
            "requests               400  12,030 input tokens a request",
            "block hits           3,456  of 9,600 blocks, 36.0 %",
            "tokens saved     1,769,472  restored instead of computed again",
            "published        768.0 MiB  1.9 GiB/s in",
            "restored         432.0 MiB  1.9 GiB/s out, every byte checked",
            "query              21.0 us  p50, 85.0 us p99",
            "restore             410 us  p50, 1.90 ms p99",
            "publish             500 us  p50, 2.00 ms p99",
            "facts journaled      2,345  replay digest equal"),
        Demo.table(REPORT, 2_345, "replay digest equal").lines());
  }
}
