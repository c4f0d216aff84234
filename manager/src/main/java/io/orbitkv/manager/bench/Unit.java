package io.orbitkv.manager.bench;

import java.util.Locale;

/** What a figure counts, and how people read it. */
public enum Unit {
  /** Nanoseconds. */
  NANOS("ns"),
  /** Bytes a second; GB/s are powers of ten. */
  BYTES_PER_SECOND("B/s"),
  BYTES("B"),
  PER_SECOND("1/s"),
  COUNT("");

  private final String symbol;

  Unit(String symbol) {
    this.symbol = symbol;
  }

  /** The unit of the plain number. */
  public String symbol() {
    return symbol;
  }

  /** A figure with three or so digits. */
  public String text(double value) {
    return switch (this) {
      case NANOS ->
          value < 1_000
              ? digits(value) + " ns"
              : value < 1e6
                  ? digits(value / 1e3) + " us"
                  : value < 1e9 ? digits(value / 1e6) + " ms" : digits(value / 1e9) + " s";
      case BYTES_PER_SECOND -> digits(value / 1e9) + " GB/s";
      case BYTES ->
          value < 10_000
              ? digits(value) + " B"
              : value < 1e6
                  ? digits(value / 1e3) + " kB"
                  : value < 1e9 ? digits(value / 1e6) + " MB" : digits(value / 1e9) + " GB";
      case PER_SECOND -> value < 1e6 ? digits(value / 1e3) + " k/s" : digits(value / 1e6) + " M/s";
      case COUNT -> String.format(Locale.ROOT, "%,.0f", value);
    };
  }

  private static String digits(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  }
}
