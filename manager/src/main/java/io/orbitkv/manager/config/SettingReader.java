package io.orbitkv.manager.config;

import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/** Reads settings and names the one that is wrong. */
record SettingReader(Settings settings) {
  String text(Setting setting) {
    return settings.text(setting).strip();
  }

  BadSetting bad(Setting setting, String problem) {
    return settings.bad(setting, problem);
  }

  <T> T parsed(Setting setting, Function<String, T> parser) {
    try {
      return parser.apply(text(setting));
    } catch (IllegalArgumentException wrong) {
      throw bad(setting, String.valueOf(wrong.getMessage()));
    }
  }

  long bytes(Setting setting, long min, long max) {
    long bytes = parsed(setting, Quantity::bytes);
    if (bytes < min || bytes > max) {
      throw bad(
          setting,
          "is %s to %s, not %s"
              .formatted(
                  Quantity.bytesText(min), Quantity.bytesText(max), Quantity.bytesText(bytes)));
    }
    return bytes;
  }

  long millis(Setting setting) {
    Duration time = parsed(setting, Quantity::time);
    if (time.toMillis() < 1 || time.toMillis() > Integer.MAX_VALUE) {
      throw bad(setting, "is 1ms to 24d, not " + text(setting));
    }
    return time.toMillis();
  }

  int number(Setting setting, int min, int max) {
    try {
      int number = Integer.parseInt(text(setting));
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // answered below
    }
    throw bad(setting, "is a number from %d to %d, not %s".formatted(min, max, text(setting)));
  }

  boolean onOff(Setting setting) {
    return switch (text(setting).toLowerCase(Locale.ROOT)) {
      case "on", "true", "yes", "1" -> true;
      case "off", "false", "no", "0" -> false;
      default -> throw bad(setting, "is on or off, not " + text(setting));
    };
  }

  String oneOf(Setting setting, Set<String> words) {
    String word = text(setting).toLowerCase(Locale.ROOT);
    if (!words.contains(word)) {
      throw bad(
          setting, "is one of " + words.stream().sorted().toList() + ", not " + text(setting));
    }
    return word;
  }

  Set<Integer> ids(Setting setting) {
    Set<Integer> ids = new HashSet<>();
    for (String each : text(setting).split(",", -1)) {
      if (!each.isBlank()) {
        try {
          ids.add(Integer.parseUnsignedInt(each.strip()));
        } catch (NumberFormatException notANumber) {
          throw bad(setting, "is a list of numbers, not " + text(setting));
        }
      }
    }
    return ids;
  }
}
