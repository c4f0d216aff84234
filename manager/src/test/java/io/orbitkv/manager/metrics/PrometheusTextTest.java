package io.orbitkv.manager.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrometheusTextTest {

  @Test
  void shouldWriteNumbersWithoutAnExponent() {
    PrometheusText page =
        new PrometheusText()
            .sample("a", 0.0000025)
            .sample("b", 1e18)
            .sample("c", 0)
            .sample("d", 1e-9)
            .sample("e", -0.5)
            .sample("f", Double.NaN)
            .sample("g", Double.POSITIVE_INFINITY)
            .single("h", "counter", "All of a long.", Long.MAX_VALUE);
    assertEquals(
        """
        a 0.0000025
        b 1000000000000000000
        c 0
        d 0.000000001
        e -0.5
        f NaN
        g +Inf
        # HELP h All of a long.
        # TYPE h counter
        h 9223372036854775807
        """,
        page.toString());
  }

  @Test
  void shouldWriteAHistogramWithPlainBoundsThatCountsUp() {
    LatencyHistogram histogram = new LatencyHistogram();
    histogram.record(900);
    histogram.record(2_000);
    histogram.record(20_000_000_000L);
    String page = new PrometheusText().histogram("t", "op=\"query\"", histogram).toString();
    List<String> bounds = new ArrayList<>();
    long last = 0;
    for (String line : page.lines().filter(each -> each.startsWith("t_bucket")).toList()) {
      bounds.add(line.replaceAll(".*le=\"([^\"]*)\".*", "$1"));
      long count = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      assertTrue(count >= last, line);
      last = count;
    }
    assertEquals(List.of("0.000001", "0.0000025", "0.000005", "0.00001"), bounds.subList(0, 4));
    assertEquals(List.of("5", "10", "+Inf"), bounds.subList(bounds.size() - 3, bounds.size()));
    assertEquals(3, last);
    assertTrue(page.contains("t_count{op=\"query\"} 3\n"), page);
    assertTrue(page.contains("t_sum{op=\"query\"} 20.0000029\n"), page);
  }

  @Test
  void shouldEscapeLabelsAndHelp() {
    assertEquals(
        "# HELP a one\\ntwo\\\\\n# TYPE a gauge\na{l=\"x\\\"y\\\\\\n\"} 1\n",
        new PrometheusText()
            .family("a", "gauge", "one\ntwo\\")
            .sample("a", "l", "x\"y\\\n", 1)
            .toString());
  }
}
