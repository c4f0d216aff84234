package io.orbitkv.manager.replay;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Round times for the width of a plot. */
final class TimeAxis {
  private static final long[] STEP_SECONDS = {
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 172_800, 604_800, 1_209_600, 2_592_000
  };
  private static final int MOST = 8;

  /**
   * One round time.
   *
   * @param share of the width, 0 to 1
   */
  record Tick(double share, String label) {}

  private final List<Tick> ticks = new ArrayList<>();

  TimeAxis(long beginMicros, long endMicros, ZoneId zone) {
    double span = Math.max(1, endMicros - beginMicros);
    if (span < 10e6) {
      inside(span);
    } else {
      onTheClock(beginMicros, endMicros, zone, span);
    }
  }

  List<Tick> ticks() {
    return ticks;
  }

  /** Seconds since the beginning, where the clock's are too coarse. */
  private void inside(double span) {
    List<Double> round = PlotTicks.fromZero(span, 1_000);
    for (double each : round) {
      if (each <= span) {
        ticks.add(new Tick(each / span, "+" + Words.duration((long) each)));
      }
    }
  }

  private void onTheClock(long beginMicros, long endMicros, ZoneId zone, double span) {
    long step = STEP_SECONDS[STEP_SECONDS.length - 1];
    for (int i = STEP_SECONDS.length - 1; i >= 0; i--) {
      step = span / 1e6 / STEP_SECONDS[i] <= MOST ? STEP_SECONDS[i] : step;
    }
    DateTimeFormatter format =
        DateTimeFormatter.ofPattern(
            step >= 86_400
                ? "MM-dd"
                : span > 86_400e6 ? "MM-dd HH:mm" : step < 60 ? "HH:mm:ss" : "HH:mm",
            Locale.ROOT);
    Instant begin = Times.instant(beginMicros);
    ZonedDateTime local = begin.atZone(zone);
    long secondOfDay = local.toLocalTime().toSecondOfDay();
    ZonedDateTime tick =
        local.toLocalDate().atStartOfDay(zone).plusSeconds(secondOfDay / step * step);
    if (step >= 86_400) {
      tick = local.toLocalDate().atStartOfDay(zone);
    }
    for (; Times.micros(tick.toInstant()) <= endMicros; tick = tick.plusSeconds(step)) {
      double share = (Times.micros(tick.toInstant()) - beginMicros) / span;
      if (share >= 0 && share <= 1) {
        ticks.add(new Tick(share, format.format(tick)));
      }
    }
  }
}
