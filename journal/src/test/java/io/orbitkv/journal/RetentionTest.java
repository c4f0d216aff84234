package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RetentionTest {
  @Test
  void shouldReadSizesAndAges() {
    Optional<Duration> week = Optional.of(Duration.ofDays(7));
    assertEquals(Retention.DEFAULT, Retention.parse("20gb|7d"));
    assertEquals(Retention.DEFAULT, Retention.parse(" 7D | 20 GB "));
    assertEquals(new Retention(20L << 30, Optional.empty()), Retention.parse("20gb"));
    assertEquals(new Retention(Long.MAX_VALUE, week), Retention.parse("7d"));
    assertEquals(
        new Retention(512L << 20, Optional.of(Duration.ofHours(36))), Retention.parse("512mb|36h"));
    assertEquals(
        new Retention(1L << 40, Optional.of(Duration.ofMinutes(90))), Retention.parse("1tb|90m"));
    assertEquals(Retention.KEEP_ALL, Retention.parse("keep"));
  }

  @Test
  void shouldSayWhatToWriteInstead() {
    for (String text :
        List.of(
            "",
            "20",
            "gb",
            "-1gb",
            "0gb",
            "20gb|",
            "20gb|30gb",
            "7d|8d",
            "20kb",
            "7w",
            "999999999999tb",
            "1.5gb",
            "20gb,7d",
            "9999999999999gb")) {
      IllegalArgumentException refusal =
          assertThrows(IllegalArgumentException.class, () -> Retention.parse(text), text);
      assertTrue(
          String.valueOf(refusal.getMessage()).contains("such as 20gb, 7d or 20gb|7d"), text);
    }
  }
}
