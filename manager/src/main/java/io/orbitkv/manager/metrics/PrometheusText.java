package io.orbitkv.manager.metrics;

import java.util.Locale;

/** Writes metrics in Prometheus' text format, version 0.0.4. */
public final class PrometheusText {
  private final StringBuilder text = new StringBuilder(16 << 10);

  /** Begins a family of metrics. */
  public PrometheusText family(String name, String type, String help) {
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  /** A sample without labels. */
  public PrometheusText sample(String name, double value) {
    text.append(name).append(' ');
    return number(value);
  }

  /** A sample with one label. */
  public PrometheusText sample(String name, String label, String labelValue, double value) {
    text.append(name).append('{').append(label).append("=\"");
    escape(labelValue);
    text.append("\"} ");
    return number(value);
  }

  /** A sample with one label. */
  public PrometheusText sample(String name, String label, String labelValue, long value) {
    return sample(name, label, labelValue, (double) value);
  }

  /** A whole family with one sample. */
  public PrometheusText single(String name, String type, String help, long value) {
    return single(name, type, help, (double) value);
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
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      text.append((long) value);
    } else {
      text.append(String.format(Locale.ROOT, "%.9g", value));
    }
  }

  private void escape(String value) {
    text.append(value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n"));
  }
}
