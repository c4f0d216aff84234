package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchReportTest {
  @TempDir Path dir;

  private final BenchReport report = new BenchReport("sample");

  @Test
  void shouldJudgeEachFigure() {
    report.add(Figure.atMost("time", Unit.NANOS, 14_900, 15_000).besides(7_450));
    report.add(Figure.atMostTimes("times", Unit.NANOS, 15_001, 7_500, 2));
    report.add(Figure.atLeast("rate", Unit.PER_SECOND, 2e6, 2e6));
    report.add(Figure.atLeastShare("share", Unit.BYTES_PER_SECOND, 7.99e9, 10e9, 0.8));
    report.add(Figure.plain("blocks", Unit.COUNT, 1_234_567));
    report.note("a note");
    assertFalse(report.met());
    assertEquals(
        """
        bench sample  target        measured      floor  ratio  verdict
        ------------  ------------  ---------  ---------  -----  -------
        time          <= 15.0 us      14.9 us    7.45 us   2.00  met
        times         <= 2 x floor    15.0 us    7.50 us   2.00  MISSED
        rate          >= 2.00 M/s    2.00 M/s                    met
        share         >= 0.8 x floor  7.99 GB/s  10.0 GB/s   0.80  MISSED
        blocks                      1,234,567
        """
            .lines()
            .map(line -> line.replaceAll("[ -]+", " "))
            .toList(),
        report.lines().subList(0, 7).stream().map(line -> line.replaceAll("[ -]+", " ")).toList());
    assertEquals("a note", report.lines().get(8));
  }

  @Test
  void shouldWriteTheFiguresAsJson() throws IOException {
    report.add(Figure.atMost("time", Unit.NANOS, 10, 15).besides(5));
    report.add(Figure.plain("blocks", Unit.COUNT, 3));
    Path file = dir.resolve("figures.json");
    StringWriter text = new StringWriter();
    report.publish(new PrintWriter(text), file);
    assertTrue(text.toString().startsWith("bench sample"));
    JsonNode json = new ObjectMapper().readTree(file.toFile());
    assertEquals("sample", json.get("bench").asText());
    assertTrue(json.get("met").asBoolean());
    JsonNode time = json.get("figures").get(0);
    assertEquals(10, time.get("measured").asDouble());
    assertEquals(5, time.get("floor").asDouble());
    assertEquals(2, time.get("ratio").asDouble());
    assertEquals("ns", time.get("unit").asText());
    assertEquals("met", time.get("verdict").asText());
    assertFalse(json.get("figures").get(1).has("floor"));
    assertEquals("none", json.get("figures").get(1).get("verdict").asText());
  }

  @Test
  void shouldWriteFiguresForPeople() {
    assertEquals("850 ns", Unit.NANOS.text(850));
    assertEquals("1.25 us", Unit.NANOS.text(1_250));
    assertEquals("12.5 us", Unit.NANOS.text(12_500));
    assertEquals("2.50 s", Unit.NANOS.text(2.5e9));
    assertEquals("8.12 GB/s", Unit.BYTES_PER_SECOND.text(8.12e9));
    assertEquals("160 B", Unit.BYTES.text(160));
    assertEquals("1.50 GB", Unit.BYTES.text(1.5e9));
    assertEquals("3.10 M/s", Unit.PER_SECOND.text(3.1e6));
  }
}
