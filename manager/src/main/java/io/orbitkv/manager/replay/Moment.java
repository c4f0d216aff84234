package io.orbitkv.manager.replay;

import io.orbitkv.state.Fact;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A place in a journal that a person named: the position of a fact, or a time. */
public sealed interface Moment {
  /** The state right after this fact. */
  record Position(long position) implements Moment {}

  /** The state after the last fact at or before this time, microseconds since 1970. */
  record Time(long atMicros) implements Moment {}

  /** Where a journal ends; relative times count from there. */
  record End(long position, long atMicros) {}

  /** Finds the end of a journal, which may mean reading its last part. */
  @FunctionalInterface
  interface EndFinder {
    End end();
  }

  String FORMS =
      "a fact's INDEX (4711), a time (2026-11-30T12:00:01Z, '2026-11-30 12:00:01.5', 12:00 or"
          + " 12:00:01 of the journal's last day), or a time before the journal's end (-90s, -5m,"
          + " -2h, -1d)";

  Pattern INDEX = Pattern.compile("\\d{1,18}|\\d{1,3}([,_]\\d{3}){1,5}");
  Pattern RELATIVE = Pattern.compile("-(\\d{1,9})(ms|s|m|h|d)");

  default boolean covers(Fact fact) {
    return switch (this) {
      case Position position -> fact.position() <= position.position;
      case Time time -> fact.atMicros() <= time.atMicros;
    };
  }

  /** Whether the fact lies at the moment or behind it. */
  default boolean reachedBy(Fact fact) {
    return switch (this) {
      case Position position -> fact.position() >= position.position;
      case Time time -> fact.atMicros() >= time.atMicros;
    };
  }

  /**
   * Reads what a person typed.
   *
   * @throws IllegalArgumentException with the forms there are
   */
  static Moment parse(String text, ZoneId zone, EndFinder end) {
    String trimmed = text.strip();
    if (INDEX.matcher(trimmed).matches()) {
      return new Position(Long.parseLong(trimmed.replaceAll("[,_]", "")));
    }
    Matcher relative = RELATIVE.matcher(trimmed);
    if (relative.matches()) {
      long unitMicros =
          switch (relative.group(2)) {
            case "ms" -> 1_000L;
            case "s" -> 1_000_000L;
            case "m" -> 60_000_000L;
            case "h" -> 3_600_000_000L;
            default -> 86_400_000_000L;
          };
      return new Time(end.end().atMicros - Long.parseLong(relative.group(1)) * unitMicros);
    }
    try {
      return new Time(Times.micros(instant(trimmed, zone, end)));
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("'" + text + "' is neither of " + FORMS, e);
    }
  }

  private static Instant instant(String text, ZoneId zone, EndFinder end) {
    if (text.matches("\\d{1,2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?")) {
      LocalTime time =
          LocalTime.parse(text.length() > 1 && text.charAt(1) == ':' ? "0" + text : text);
      ZonedDateTime last = Times.instant(end.end().atMicros).atZone(zone);
      ZonedDateTime then = last.with(time);
      return (then.isAfter(last) ? then.minusDays(1) : then).toInstant();
    }
    String iso = text.replace(' ', 'T');
    if (iso.matches(".*T.*(Z|[+-]\\d{2}(:?\\d{2})?)")) {
      return OffsetDateTime.parse(iso).toInstant();
    }
    return (iso.contains("T") ? LocalDateTime.parse(iso) : LocalDate.parse(iso).atStartOfDay())
        .atZone(zone)
        .toInstant();
  }
}
