package io.orbitkv.manager.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressBarTest {

  @Test
  void shouldTellRateAndRest() {
    assertEquals(
        "[###############               ]  50 %  1,000 facts, 500/s, 2.0 s left",
        ProgressBar.line(1_000, 50, 100, 2_000_000_000L));
    assertEquals(
        "[                              ]   0 %  0 facts, 0/s", ProgressBar.line(0, 0, 100, 1));
    assertTrue(ProgressBar.line(7, 0, 0, 1_000).contains("100 %"));
  }

  @Test
  void shouldStaySilentWithoutATerminal() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ProgressBar bar =
        new ProgressBar(new PrintStream(bytes, true, StandardCharsets.UTF_8), false)) {
      bar.at(1, 1, 1);
    }
    assertEquals(0, bytes.size());
  }
}
