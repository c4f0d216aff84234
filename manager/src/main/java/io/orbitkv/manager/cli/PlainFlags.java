package io.orbitkv.manager.cli;

import io.orbitkv.manager.config.Setting;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the command line of {@code orbitkv manager} where it is as plain as those of services are:
 * flags that exist, each once and with its value. Picocli, which reads all others and says what is
 * wrong with them, takes a start a quarter of a second: its classes are older than what the JVM's
 * cache takes.
 */
public final class PlainFlags {
  private PlainFlags() {}

  /**
   * The flags' texts as {@link ManagerCommand} has them.
   *
   * @param words behind {@code manager}
   * @return empty where a word is not as plain as that
   */
  public static Optional<Map<Setting, String>> of(List<String> words) {
    Map<String, Setting> known = new HashMap<>();
    for (Setting setting : Setting.values()) {
      known.put(setting.flag(), setting);
    }
    Map<Setting, String> flags = new EnumMap<>(Setting.class);
    for (int at = 0; at < words.size(); at++) {
      String word = words.get(at);
      int equals = word.indexOf('=');
      Setting setting = known.get(equals < 0 ? word : word.substring(0, equals));
      if (setting == null || (flags.containsKey(setting) && !setting.isRepeatable())) {
        return Optional.empty();
      }
      String value;
      if (equals >= 0) {
        value = word.substring(equals + 1);
      } else {
        boolean last = at + 1 == words.size();
        if (setting.isSwitch() && (last || words.get(at + 1).startsWith("--"))) {
          value = "on";
        } else if (last) {
          return Optional.empty();
        } else {
          value = words.get(++at);
        }
      }
      if (!isPlain(value)) {
        return Optional.empty();
      }
      flags.merge(setting, value, (before, more) -> before + "," + more);
    }
    return Optional.of(flags);
  }

  /** Whether it is neither another flag, nor a file of arguments, nor in quotes. */
  private static boolean isPlain(String value) {
    return !value.isEmpty() && "-@\"'".indexOf(value.charAt(0)) < 0;
  }
}
