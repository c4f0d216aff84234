package io.orbitkv.manager.replay;

import java.util.Locale;

/** How figures and constants are written for a person. */
public final class Words {
  private Words() {}

  /** {@code NEVER_SEALED} as {@code never_sealed}. */
  public static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** {@code 12,345}. */
  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** {@code 1 block}, {@code 12,345 blocks}. */
  public static String count(long number, String noun) {
    return count(number) + " " + noun + (number == 1 ? "" : noun.endsWith("sh") ? "es" : "s");
  }

  /** {@code 1.5 MiB}. */
  public static String bytes(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    String units = "KMGTPE";
    double value = bytes / 1024.0;
    int unit = 0;
    while (value >= 1023.95 && unit < units.length() - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %ciB", value, units.charAt(unit));
  }

  /**
   * {@code 812 us}, {@code 1.2 ms}, {@code 3.4 s}, {@code 5m 12s}, {@code 3h 4m}, {@code 2d 5h}.
   */
  public static String duration(long micros) {
    if (micros < 0) {
      return "-" + duration(-micros);
    }
    if (micros < 1_000) {
      return micros + " us";
    }
    if (micros < 999_950) {
      return String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
    }
    long seconds = micros / 1_000_000;
    if (seconds < 60) {
      return String.format(Locale.ROOT, "%.1f s", Math.min(59.9, micros / 1e6));
    }
    if (seconds < 3_600) {
      return seconds / 60 + "m " + seconds % 60 + "s";
    }
    if (seconds < 86_400) {
      return seconds / 3_600 + "h " + seconds % 3_600 / 60 + "m";
    }
    return seconds / 86_400 + "d " + seconds % 86_400 / 3_600 + "h";
  }

  /** {@code 36.2 %}, or a dash where there is nothing to divide by. */
  public static String percent(long part, long whole) {
    return whole == 0 ? "-" : String.format(Locale.ROOT, "%.1f %%", 100.0 * part / whole);
  }

  public static String hex(long bits) {
    return String.format(Locale.ROOT, "%016x", bits);
  }

  /** A key's first digits, enough to tell it from others. */
  static String shortKey(String hex) {
    return hex.length() <= 16 ? hex : hex.substring(0, 16) + "..";
  }
}
