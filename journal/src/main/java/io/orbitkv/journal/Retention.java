package io.orbitkv.journal;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which whole parts may be deleted, oldest first: those that make the journal larger than {@code
 * maxBytes} or that ended longer than {@code maxAge} ago. A part goes only when a valid checkpoint
 * covers its last fact, and the part that is being written never goes.
 *
 * @param maxBytes of all parts and checkpoints, {@link Long#MAX_VALUE} for no bound
 * @param maxAge empty for no bound
 */
public record Retention(long maxBytes, Optional<Duration> maxAge) {
  public static final Retention DEFAULT = new Retention(20L << 30, Optional.of(Duration.ofDays(7)));
  public static final Retention KEEP_ALL = new Retention(Long.MAX_VALUE, Optional.empty());

  private static final String REMEDY =
      "write a size, an age or both with | between them, such as 20gb, 7d or 20gb|7d; or \"keep\" for everything";
  private static final Pattern TERM = Pattern.compile("(\\d{1,12})\\s*([a-z]+)");

  /**
   * Reads {@code 20gb|7d}: a size in mb, gb or tb (powers of 1024), an age in m, h or d, either of
   * them alone, or {@code keep}.
   *
   * @throws IllegalArgumentException with a message that says what to write
   */
  public static Retention parse(String text) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    if (plain.equals("keep")) {
      return KEEP_ALL;
    }
    Optional<Long> bytes = Optional.empty();
    Optional<Duration> age = Optional.empty();
    for (String term : plain.split("\\|", -1)) {
      Matcher matcher = TERM.matcher(term.strip());
      if (!matcher.matches()) {
        throw bad(text);
      }
      long number = Long.parseLong(matcher.group(1));
      String unit = matcher.group(2);
      boolean isSize = unit.endsWith("b");
      if (number == 0 || (isSize ? bytes.isPresent() : age.isPresent())) {
        throw bad(text);
      }
      if (isSize) {
        bytes = Optional.of(size(text, number, unit));
      } else {
        age = Optional.of(age(text, number, unit));
      }
    }
    return new Retention(bytes.orElse(Long.MAX_VALUE), age);
  }

  private static long size(String text, long number, String unit) {
    int shift =
        switch (unit) {
          case "mb" -> 20;
          case "gb" -> 30;
          case "tb" -> 40;
          default -> throw bad(text);
        };
    if (number > Long.MAX_VALUE >> shift) {
      throw bad(text);
    }
    return number << shift;
  }

  private static Duration age(String text, long number, String unit) {
    return switch (unit) {
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "d" -> Duration.ofDays(number);
      default -> throw bad(text);
    };
  }

  private static IllegalArgumentException bad(String text) {
    return new IllegalArgumentException("\"" + text + "\" is no journal retention: " + REMEDY);
  }
}
