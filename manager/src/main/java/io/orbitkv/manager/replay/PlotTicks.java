package io.orbitkv.manager.replay;

import java.util.ArrayList;
import java.util.List;

/** Round figures for the height of a plot. */
final class PlotTicks {
  private static final int WANTED = 4;
  private static final double[] ONE = {1};
  private static final double[] ONE_TWO_FIVE = {1, 2, 5};

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

  /** One, two and five times the powers of ten, or the powers alone, just around all values. */
  static List<Double> logarithmic(double least, double most) {
    double low = Math.max(least, 1e-9);
    double high = Math.max(most, low);
    boolean few = high / low < 150;
    List<Double> ticks = new ArrayList<>();
    int exponent = (int) Math.floor(Math.log10(low)) - 1;
    while (ticks.size() < 2 || ticks.getLast() < high) {
      for (double round : few ? ONE_TWO_FIVE : ONE) {
        double tick = round * Math.pow(10, exponent);
        if (!ticks.isEmpty() && tick <= low) {
          ticks.clear();
        }
        if (ticks.size() < 2 || ticks.getLast() < high) {
          ticks.add(tick);
        }
      }
      exponent++;
    }
    return ticks;
  }
}
