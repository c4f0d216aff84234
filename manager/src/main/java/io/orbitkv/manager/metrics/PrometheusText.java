package io.orbitkv.manager.metrics;

import java.math.BigDecimal;

/**
 * Writes metrics in Prometheus' text format, version 0.0.4. Numbers are plain decimals, never with
 * an exponent: a bucket's bound is a label, and is compared as text.
 */
public final class PrometheusText {
  private final StringBuilder text = new StringBuilder(16 << 10);

  /** Begins a family of metrics. */
  public PrometheusText family(String name, String type, String help) {
    text.append("# HELP ").append(name).append(' ');
    text.append(help.replace("\\", "\\\\").replace("\n", "\\n")).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  /** A sample without labels. */
  public PrometheusText sample(String name, double value) {
    text.append(name).append(' ');
    return number(value);
  }

  /** A sample with one label. */
  public PrometheusText sample(String name, String label, String labelValue, long value) {
    text.append(name).append('{').append(label).append("=\"");
    escape(labelValue);
    text.append("\"} ").append(value).append('\n');
    return this;
  }

  /** A whole family with one sample. */
  public PrometheusText single(String name, String type, String help, long value) {
    family(name, type, help);
    text.append(name).append(' ').append(value).append('\n');
    return this;
  }

  /** A whole family with one sample. */
  public PrometheusText single(String name, String type, String help, double value) {
    return family(name, type, help).sample(name, value);
  }

  /**
   * The series of a histogram.
   *
   * @param label with its value and quotes, such as {@code op="query"}; empty for none
   */
  public PrometheusText histogram(String name, String label, LatencyHistogram histogram) {
    long[] counts = histogram.counts();
    double[] bounds = LatencyHistogram.boundsSeconds();
    String separator = label.isEmpty() ? "" : ",";
    long total = 0;
    for (int i = 0; i < counts.length; i++) {
      total += counts[i];
      text.append(name).append("_bucket{").append(label).append(separator).append("le=\"");
      if (i < bounds.length) {
        plain(bounds[i]);
      } else {
        text.append("+Inf");
      }
      text.append("\"} ").append(total).append('\n');
    }
    String labels = label.isEmpty() ? "" : "{" + label + "}";
    text.append(name).append("_sum").append(labels).append(' ');
    number(histogram.sumSeconds());
    text.append(name).append("_count").append(labels).append(' ').append(total).append('\n');
    return this;
  }

  @Override
  public String toString() {
    return text.toString();
  }

  private PrometheusText number(double value) {
    plain(value);
    text.append('\n');
    return this;
  }

  private void plain(double value) {
    if (Double.isNaN(value)) {
      text.append("NaN");
    } else if (Double.isInfinite(value)) {
      text.append(value > 0 ? "+Inf" : "-Inf");
    } else {
      text.append(value == 0 ? "0" : plainDigits(value));
    }
  }

  private static String plainDigits(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  private void escape(String value) {
    text.append(value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n"));
  }
}
