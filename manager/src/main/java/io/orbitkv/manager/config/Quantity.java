package io.orbitkv.manager.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and times as people write them. */
public final class Quantity {
  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,15})\\s*([a-z]*)");

  private Quantity() {}

  /**
   * Reads a size: a number of bytes, or one with kb, mb, gb, tb (or kib, k and so on); all are
   * powers of 1024.
   *
   * @throws IllegalArgumentException with what to write instead
   */
  public static long bytes(String text) {
    Matcher matcher = match(text, "a size such as 512mb, 30gb or 4gib");
    int shift =
        switch (matcher.group(2)) {
          case "", "b" -> 0;
          case "k", "kb", "kib" -> 10;
          case "m", "mb", "mib" -> 20;
          case "g", "gb", "gib" -> 30;
          case "t", "tb", "tib" -> 40;
          default -> -1;
        };
    long number = Long.parseLong(matcher.group(1));
    if (shift < 0 || number > Long.MAX_VALUE >> shift) {
      throw bad(text, "a size such as 512mb, 30gb or 4gib");
    }
    return number << shift;
  }

  /**
   * Reads a time: a number with us, ms, s, m, h or d; 0 needs no unit.
   *
   * @throws IllegalArgumentException with what to write instead
   */
  public static Duration time(String text) {
    String example = "a time such as 50us, 250ms, 5s, 30m, 12h or 7d";
    Matcher matcher = match(text, example);
    long number = Long.parseLong(matcher.group(1));
    try {
      return switch (matcher.group(2)) {
        case "" -> {
          if (number != 0) {
            throw bad(text, example);
          }
          yield Duration.ZERO;
        }
        case "us" -> Duration.ofNanos(Math.multiplyExact(number, 1_000L));
        case "ms" -> Duration.ofMillis(number);
        case "s" -> Duration.ofSeconds(number);
        case "m" -> Duration.ofMinutes(number);
        case "h" -> Duration.ofHours(number);
        case "d" -> Duration.ofDays(number);
        default -> throw bad(text, example);
      };
    } catch (ArithmeticException tooLong) {
      throw bad(text, example);
    }
  }

  /** A size in the largest unit that keeps it short: {@code 1.5 GiB}. */
  public static String bytesText(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0
        ? bytes + " B"
        : String.format(Locale.ROOT, value < 10 ? "%.2f %s" : "%.1f %s", value, units[unit]);
  }

  private static Matcher match(String text, String example) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw bad(text, example);
    }
    return matcher;
  }

  private static IllegalArgumentException bad(String text, String example) {
    return new IllegalArgumentException("\"" + text + "\" is not " + example);
  }
}
