package io.orbitkv.manager.replay;

import java.util.ArrayList;
import java.util.List;

/** Round figures for the height of a plot. */
final class PlotTicks {
  private static final int WANTED = 4;

  private PlotTicks() {}

  /**
   * Ticks from zero to at least a value.
   *
   * @param steps 1000, or 1024 for bytes: what is round after a unit's step
   */
  static List<Double> fromZero(double most, int steps) {
    double least = most <= 0 ? 1 : most;
    double unit = 1;
    while (least / unit >= steps) {
      unit *= steps;
    }
    double step = unit * roundUp(least / unit / WANTED);
    List<Double> ticks = new ArrayList<>();
    for (int i = 0; ticks.isEmpty() || ticks.getLast() < least; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private static double roundUp(double value) {
    double magnitude = Math.pow(10, Math.floor(Math.log10(value)));
    for (double round : new double[] {1, 2, 2.5, 5, 10}) {
      if (round * magnitude >= value * 0.999_999) {
        return round * magnitude;
      }
    }
    return 10 * magnitude;
  }

  /** Powers of ten around all values, with 2 and 5 between them where there are few. */
  static List<Double> logarithmic(double least, double most) {
    double low = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-9)) + 1e-9));
    double high = Math.pow(10, Math.ceil(Math.log10(Math.max(most, low)) - 1e-9));
    if (high <= low) {
      high = low * 10;
    }
    boolean few = high / low < 150;
    List<Double> ticks = new ArrayList<>();
    for (double power = low; power < high * 0.99; power *= 10) {
      ticks.add(power);
      if (few) {
        ticks.add(power * 2);
        ticks.add(power * 5);
      }
    }
    ticks.add(high);
    return ticks;
  }
}
