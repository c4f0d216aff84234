package io.orbitkv.manager.replay;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** How moments are written: sortable, and fit to be given to {@code --at} again. */
public final class Times {
  private static final DateTimeFormatter DATE_AND_TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT);

  private final ZoneId zone;

  public Times(ZoneId zone) {
    this.zone = zone;
  }

  public static Times utc() {
    return new Times(ZoneOffset.UTC);
  }

  public ZoneId zone() {
    return zone;
  }

  /** The zone as a person knows it. */
  String zoneName() {
    return zone.equals(ZoneOffset.UTC) ? "UTC" : zone.toString();
  }

  /** {@code 2026-11-30 12:00:01.123456}. */
  public String text(long atMicros) {
    return DATE_AND_TIME.format(instant(atMicros).atZone(zone));
  }

  /** {@code 2026-11-30T12:00:01.123456Z}. */
  public static String iso(long atMicros) {
    return DateTimeFormatter.ISO_INSTANT.format(instant(atMicros));
  }

  static Instant instant(long atMicros) {
    return Instant.EPOCH.plus(atMicros, ChronoUnit.MICROS);
  }

  static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }
}
