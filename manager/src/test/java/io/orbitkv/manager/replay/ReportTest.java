package io.orbitkv.manager.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.journal.JournalOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report page and the trace of a busy journal. */
class ReportTest {
  private static final long FACTS = 6_000;
  private static final JournalOptions OPTIONS = JournalOptions.DEFAULT.withPartBytes(2 << 20);

  @TempDir static Path busy;
  @TempDir Path dir;

  @BeforeAll
  static void shouldWriteABusyJournal() throws IOException {
    BusyJournal.write(busy, 1, FACTS, OPTIONS);
  }

  @Test
  void shouldVerifyTheBusyJournal() {
    Cli verify = Cli.replay(busy, "--verify", "--deep-every", "500");
    assertEquals(0, verify.exit, verify.out + verify.err);
    assertTrue(verify.out.startsWith("replay digest equal"), verify.out);
  }

  @Test
  void shouldWriteASelfContainedPage() throws Exception {
    Path page = dir.resolve("report.html");
    Cli report = Cli.replay(busy, "--report", page.toString());
    assertEquals(0, report.exit, report.err);
    String html = Files.readString(page);
    assertFalse(
        Pattern.compile("https?:|src=|href=|@import|url\\(|<script|<link|<img|<iframe")
            .matcher(html)
            .find(),
        "the page refers to something");
    assertTrue(html.contains("prefers-color-scheme: dark"));
    assertTrue(html.length() < 1 << 20, html.length() + " characters");
    for (String title :
        new String[] {
          "Pool occupancy", "Hit ratio", "Open leases and restores", "Throughput",
          "Restore latency", "Publish latency", "Evictions", "Requests that missed most",
          "Namespaces", "Epochs"
        }) {
      assertTrue(html.contains("<h2>" + title + "</h2>"), title);
    }
    assertEquals(8, html.split("<svg", -1).length - 1, "plots");
    for (String svg : html.split("(?=<svg)", -1)) {
      if (svg.startsWith("<svg")) {
        assertWellFormed(svg.substring(0, svg.indexOf("</svg>") + 6));
      }
    }
  }

  private static void assertWellFormed(String xml) throws Exception {
    assertFalse(xml.contains("NaN"), xml);
    assertFalse(xml.contains("Infinity"), xml);
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void shouldWriteAPageOfAlmostNothing() throws Exception {
    Path tiny = dir.resolve("tiny");
    try (JournalScript script = JournalScript.open(tiny)) {
      script.epoch();
    }
    Path page = dir.resolve("report.html");
    assertEquals(0, Cli.replay(tiny, "--report", page.toString()).exit);
    assertTrue(Files.readString(page).contains("none in this journal"));
  }

  @Test
  void shouldSayWhereItCannotWrite() {
    for (Path wrong : new Path[] {dir, dir.resolve("missing").resolve("report.html")}) {
      Cli report = Cli.replay(busy, "--report", wrong.toString());
      assertEquals(1, report.exit);
      assertTrue(report.err.contains("cannot write"), report.err);
    }
  }

  @Test
  void shouldEscapeNames() throws Exception {
    Path odd = dir.resolve("odd");
    try (JournalScript script = JournalScript.open(odd)) {
      long session = script.engine();
      script.miss(session, "<b>&\"'", "aa");
    }
    Path page = dir.resolve("report.html");
    assertEquals(0, Cli.replay(odd, "--report", page.toString()).exit);
    assertTrue(Files.readString(page).contains("&lt;b&gt;&amp;&quot;&#39;"));
  }

  @Test
  void shouldWriteATraceWithNestingSlices() throws Exception {
    Path file = dir.resolve("trace.json");
    Cli export = Cli.replay(busy, "--export", "perfetto", file.toString());
    assertEquals(0, export.exit, export.err);
    JsonNode trace = new ObjectMapper().readTree(file.toFile());
    assertTrace(trace);
    Map<String, Integer> phases = phases(trace);
    assertEquals(Set.of("C", "M", "X", "i"), phases.keySet());
    Set<String> rows =
        events(trace, "M").stream()
            .map(event -> event.at("/args/name").asText().replaceAll("\\d+", "N"))
            .collect(Collectors.toSet());
    for (String row :
        new String[] {
          "Manager",
          "vllm-N",
          "evictions",
          "epoch",
          "session N session",
          "session N publish",
          "session N lease",
          "session N restore",
          "session N misses and refusals"
        }) {
      assertTrue(rows.contains(row), row + " is not in " + rows);
    }
    Set<String> counters =
        events(trace, "C").stream()
            .map(event -> event.get("name").asText())
            .collect(Collectors.toSet());
    assertTrue(
        counters.containsAll(Set.of("pool used, MiB", "open leases", "hit ratio, %")),
        counters.toString());
  }

  @Test
  void shouldWriteATraceOfAStretch() throws Exception {
    Path whole = dir.resolve("whole.json");
    Path part = dir.resolve("part.json");
    assertEquals(0, Cli.replay(busy, "--export", "perfetto", whole.toString()).exit);
    Cli export =
        Cli.replay(
            busy, "--export", "perfetto", part.toString(), "--since", "2000", "--until", "2500");
    assertEquals(0, export.exit, export.err);
    JsonNode trace = new ObjectMapper().readTree(part.toFile());
    assertTrace(trace);
    assertTrue(events(trace, "X").size() > 50);
    assertTrue(Files.size(part) * 4 < Files.size(whole));
  }

  private static Map<String, Integer> phases(JsonNode trace) {
    Map<String, Integer> phases = new TreeMap<>();
    trace
        .get("traceEvents")
        .forEach(each -> phases.merge(each.get("ph").asText(), 1, Integer::sum));
    return phases;
  }

  private static List<JsonNode> events(JsonNode trace, String phase) {
    List<JsonNode> events = new ArrayList<>();
    trace
        .get("traceEvents")
        .forEach(
            each -> {
              if (each.get("ph").asText().equals(phase)) {
                events.add(each);
              }
            });
    return events;
  }

  /** What the Trace Event Format asks for, and that slices of one row do not overlap. */
  private static void assertTrace(JsonNode trace) {
    Map<String, Long> rowEnds = new HashMap<>();
    Set<String> named =
        events(trace, "M").stream()
            .filter(event -> event.get("name").asText().equals("thread_name"))
            .map(event -> event.get("pid") + "/" + event.get("tid"))
            .collect(Collectors.toSet());
    List<JsonNode> slices = events(trace, "X");
    slices.sort(Comparator.comparingLong(event -> event.get("ts").asLong()));
    for (JsonNode slice : slices) {
      String row = slice.get("pid") + "/" + slice.get("tid");
      assertTrue(named.contains(row), "row without a name: " + row);
      assertTrue(slice.get("dur").asLong() >= 0, slice.toString());
      assertFalse(slice.get("name").asText().isEmpty());
      long begin = slice.get("ts").asLong();
      assertTrue(begin >= rowEnds.getOrDefault(row, 0L), "overlap: " + slice);
      rowEnds.put(row, begin + slice.get("dur").asLong());
    }
    events(trace, "i").forEach(event -> assertEquals("t", event.get("s").asText()));
    events(trace, "C").forEach(event -> assertTrue(event.at("/args/value").isNumber()));
  }
}
