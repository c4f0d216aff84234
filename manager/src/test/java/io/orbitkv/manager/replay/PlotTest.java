package io.orbitkv.manager.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The parts of the report that a page cannot show wrong without anybody noticing. */
class PlotTest {

  @Test
  void shouldFindRoundTicks() {
    assertEquals(List.of(0.0, 20.0, 40.0, 60.0, 80.0), PlotTicks.fromZero(68, 1_000));
    assertEquals(List.of(0.0, 0.25, 0.5, 0.75, 1.0), PlotTicks.fromZero(0, 1_000));
    assertEquals(
        List.of(0.0, 50.0 * 1024, 100.0 * 1024, 150.0 * 1024),
        PlotTicks.fromZero(128 * 1024, 1_024));
    assertEquals(List.of(2.0, 5.0, 10.0, 20.0), PlotTicks.logarithmic(3, 15));
    assertEquals(List.of(1.0, 10.0, 100.0, 1_000.0), PlotTicks.logarithmic(2, 800));
    assertEquals(List.of(1.0, 2.0), PlotTicks.logarithmic(1, 1));
  }

  @Test
  void shouldCoverAnyRange() {
    Random random = new Random(11);
    for (int i = 0; i < 10_000; i++) {
      double low = Math.pow(10, random.nextDouble() * 10 - 2);
      double high = low * Math.pow(10, random.nextDouble() * 6);
      List<Double> ticks = PlotTicks.logarithmic(low, high);
      assertTrue(ticks.getFirst() <= low * 1.000_001, "seed 11: " + low + " " + ticks);
      assertTrue(ticks.getLast() >= high * 0.999_999, "seed 11: " + high + " " + ticks);
      assertTrue(ticks.size() <= 12, "seed 11: " + ticks);
      List<Double> linear = PlotTicks.fromZero(high, 1_024);
      assertTrue(linear.getLast() >= high && linear.size() <= 7, "seed 11: " + linear);
    }
  }

  @Test
  void shouldPutRoundTimesOnTheAxis() {
    long noon = JournalScript.NOON_MICROS;
    TimeAxis hours = new TimeAxis(noon + 60_000_000, noon + 3_600_000_000L * 2, ZoneOffset.UTC);
    assertEquals(
        List.of("12:15", "12:30", "12:45", "13:00", "13:15", "13:30", "13:45", "14:00"),
        hours.ticks().stream().map(TimeAxis.Tick::label).toList());
    TimeAxis moment = new TimeAxis(noon, noon + 4_000, ZoneOffset.UTC);
    assertEquals("+1.0 ms", moment.ticks().get(1).label());
    TimeAxis days = new TimeAxis(noon, noon + 86_400_000_000L * 30, ZoneOffset.UTC);
    assertTrue(days.ticks().size() >= 3, days.ticks().toString());
  }

  @Test
  void shouldBoundTheNumberOfStretches() {
    Timeline timeline = new Timeline();
    long facts = 0;
    for (long at = 0; at < 40_000_000_000L; at += 3_333_333) {
      Timeline.Stretch stretch = timeline.at(JournalScript.NOON_MICROS + at);
      stretch.facts++;
      stretch.restores.add(at % 10_000);
      facts++;
    }
    assertTrue(timeline.stretches().size() <= 480);
    assertTrue(timeline.stretches().size() >= 240);
    assertEquals(facts, timeline.stretches().stream().mapToLong(stretch -> stretch.facts).sum());
    assertEquals(
        facts, timeline.stretches().stream().mapToLong(stretch -> stretch.restores.total()).sum());
  }

  @Test
  void shouldFindQuantilesWithinNinePercent() {
    LatencyCounts counts = new LatencyCounts();
    for (int micros = 1; micros <= 10_000; micros++) {
      counts.add(micros);
    }
    assertEquals(5_000, counts.quantile(0.5), 450);
    assertEquals(9_900, counts.quantile(0.99), 890);
    assertTrue(Double.isNaN(new LatencyCounts().quantile(0.5)));
  }

  @Test
  void shouldKeepTheTopOfManyNames() {
    TopList list = new TopList();
    for (int i = 0; i < 100_000; i++) {
      list.of("small-" + i).askedBlocks = 1;
      list.of("big-" + i % 5).askedBlocks += 3;
    }
    assertTrue(list.approximate());
    List<TopList.Entry> top = list.top(5, entry -> entry.askedBlocks);
    assertEquals(60_000, top.getFirst().askedBlocks);
    assertTrue(top.stream().allMatch(entry -> entry.name.startsWith("big-")));
  }
}
