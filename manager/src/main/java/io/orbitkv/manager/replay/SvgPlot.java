package io.orbitkv.manager.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;

/**
 * One plot over time as SVG text, drawn in colours that the page defines for light and for dark.
 * Values that are not there (NaN) leave a gap; a single one between gaps is a dot.
 */
final class SvgPlot {
  private static final int WIDTH = 760;
  private static final int HEIGHT = 220;
  private static final int LEFT = 76;
  private static final int RIGHT = 12;
  private static final int TOP = 10;
  private static final int BOTTOM = 26;

  /** One line of a plot. */
  static final class Series {
    private final String name;
    private final double[] values;

    Series(String name, double[] values) {
      this.name = name;
      this.values = values;
    }

    String name() {
      return name;
    }

    DoubleStream values() {
      return Arrays.stream(values);
    }
  }

  /** How values are spread over the height. */
  enum Scale {
    FROM_ZERO,
    LOGARITHMIC
  }

  private final List<Series> series;
  private final Scale scale;
  private final DoubleFunction<String> label;
  private final TimeAxis axis;
  private final double low;
  private final double high;
  private final List<Double> ticks;

  private SvgPlot(
      List<Series> series,
      Scale scale,
      List<Double> ticks,
      DoubleFunction<String> label,
      TimeAxis axis) {
    this.series = series;
    this.scale = scale;
    this.ticks = ticks;
    this.label = label;
    this.axis = axis;
    this.low = ticks.getFirst();
    this.high = ticks.getLast();
  }

  /** Lines from zero up; {@code steps} is 1000 or 1024, the base of the units. */
  static String lines(List<Series> series, TimeAxis axis, int steps, DoubleFunction<String> label) {
    return plot(series, axis, steps, label).draw(false);
  }

  /** Areas, each on top of the one before. */
  static String stacked(
      List<Series> series, TimeAxis axis, int steps, DoubleFunction<String> label) {
    List<Series> sums = new ArrayList<>();
    double[] below = new double[series.isEmpty() ? 0 : series.getFirst().values.length];
    for (Series each : series) {
      double[] sum = new double[below.length];
      for (int i = 0; i < sum.length; i++) {
        sum[i] = below[i] + (Double.isNaN(each.values[i]) ? 0 : each.values[i]);
      }
      sums.add(new Series(each.name, sum));
      below = sum;
    }
    return plot(sums, axis, steps, label).draw(true);
  }

  private static SvgPlot plot(
      List<Series> series, TimeAxis axis, int steps, DoubleFunction<String> label) {
    return new SvgPlot(
        series, Scale.FROM_ZERO, PlotTicks.fromZero(most(series), steps), label, axis);
  }

  /** Lines over a logarithmic height. */
  static String logarithmic(List<Series> series, TimeAxis axis, DoubleFunction<String> label) {
    return new SvgPlot(
            series,
            Scale.LOGARITHMIC,
            PlotTicks.logarithmic(least(series), most(series)),
            label,
            axis)
        .draw(false);
  }

  private static double most(List<Series> series) {
    double most = 0;
    for (Series each : series) {
      for (double value : each.values) {
        most = value > most ? value : most;
      }
    }
    return most;
  }

  private static double least(List<Series> series) {
    double least = Double.MAX_VALUE;
    for (Series each : series) {
      for (double value : each.values) {
        least = value < least ? value : least;
      }
    }
    return least == Double.MAX_VALUE ? 1 : least;
  }

  // ---- drawing ---------------------------------------------------------------------------------

  private String draw(boolean areas) {
    StringBuilder svg = new StringBuilder(8_192);
    svg.append("<svg viewBox=\"0 0 ").append(WIDTH).append(' ').append(HEIGHT);
    svg.append("\" role=\"img\" preserveAspectRatio=\"xMidYMid meet\">");
    for (double tick : ticks) {
      String y = number(y(tick));
      svg.append("<path class=\"grid\" d=\"M").append(LEFT).append(' ').append(y);
      svg.append('H').append(WIDTH - RIGHT).append("\"/>");
      text(svg, LEFT - 8, y(tick) + 4, "end", label.apply(tick));
    }
    for (TimeAxis.Tick tick : axis.ticks()) {
      double x = LEFT + tick.share() * (WIDTH - LEFT - RIGHT);
      svg.append("<path class=\"grid\" d=\"M").append(number(x)).append(' ').append(TOP);
      svg.append('V').append(HEIGHT - BOTTOM).append("\"/>");
      text(svg, x, HEIGHT - 8, "middle", tick.label());
    }
    for (int i = series.size() - 1; i >= 0; i--) {
      if (areas) {
        area(svg, i);
      } else {
        line(svg, i);
      }
    }
    return svg.append("</svg>").toString();
  }

  private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
    svg.append("<text x=\"").append(number(x)).append("\" y=\"").append(number(y));
    svg.append("\" text-anchor=\"").append(anchor).append("\">");
    svg.append(Html.escape(text)).append("</text>");
  }

  private void line(StringBuilder svg, int index) {
    double[] values = series.get(index).values;
    StringBuilder dots = new StringBuilder();
    svg.append("<path class=\"line c").append(index).append("\" d=\"");
    boolean drawing = false;
    for (int i = 0; i < values.length; i++) {
      if (Double.isNaN(values[i])) {
        drawing = false;
        continue;
      }
      boolean alone = !drawing && (i + 1 == values.length || Double.isNaN(values[i + 1]));
      if (alone) {
        dots.append("<circle class=\"dot c").append(index).append("\" r=\"1.6\" cx=\"");
        dots.append(number(x(i, values.length))).append("\" cy=\"");
        dots.append(number(y(values[i]))).append("\"/>");
        continue;
      }
      svg.append(drawing ? 'L' : 'M').append(number(x(i, values.length)));
      svg.append(' ').append(number(y(values[i])));
      drawing = true;
    }
    svg.append("\"/>").append(dots);
  }

  private void area(StringBuilder svg, int index) {
    double[] values = series.get(index).values;
    svg.append("<path class=\"area c").append(index).append("\" d=\"M").append(LEFT);
    svg.append(' ').append(number(y(low)));
    for (int i = 0; i < values.length; i++) {
      double right = LEFT + (i + 1.0) / values.length * (WIDTH - LEFT - RIGHT);
      svg.append('V').append(number(y(values[i]))).append('H').append(number(right));
    }
    svg.append('V').append(number(y(low))).append("Z\"/>");
  }

  private double x(int index, int count) {
    return LEFT + (index + 0.5) / count * (WIDTH - LEFT - RIGHT);
  }

  private double y(double value) {
    double share =
        switch (scale) {
          case FROM_ZERO -> value / high;
          case LOGARITHMIC -> Math.log(value / low) / Math.log(high / low);
        };
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.1f", value);
    return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
  }
}
