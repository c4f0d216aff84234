package io.orbitkv.manager.config;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The text of every setting, and where it came from. A flag goes before an environment variable,
 * that before the configuration file, that before the default.
 */
public final class Settings {

  /** Where a value came from. */
  public enum Source {
    FLAG,
    ENVIRONMENT,
    FILE,
    DEFAULT
  }

  /** A setting's text and origin. */
  public record Value(String text, Source source) {}

  /** A variable that differs from a setting's in so few letters is a slip. */
  private static final int MOST_SLIPS = 2;

  private final Map<Setting, Value> values;

  private Settings(Map<Setting, Value> values) {
    this.values = values;
  }

  /** Everything at its default but these, which count as flags. */
  public static Settings of(Map<Setting, String> flags) {
    return resolve(flags, Map.of());
  }

  /**
   * Resolves all settings.
   *
   * @param flags given on the command line
   * @param environment such as {@link System#getenv()}; a variable that is nearly the name of a
   *     setting's is taken for a slip and refused, other variables are ignored
   * @throws BadSetting if the configuration file cannot be read or has an unknown key, or a
   *     variable is misspelt
   */
  public static Settings resolve(Map<Setting, String> flags, Map<String, String> environment) {
    refuseMisspelt(environment);
    String path =
        flags.getOrDefault(Setting.CONFIG, environment.getOrDefault(Setting.CONFIG.variable(), ""));
    Map<Setting, String> file = path.isEmpty() ? Map.of() : read(Path.of(path));
    Map<Setting, Value> values = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      String flag = flags.get(setting);
      String variable = environment.get(setting.variable());
      String key = file.get(setting);
      values.put(
          setting,
          flag != null
              ? new Value(flag, Source.FLAG)
              : variable != null
                  ? new Value(variable, Source.ENVIRONMENT)
                  : key != null
                      ? new Value(key, Source.FILE)
                      : new Value(setting.defaultText(), Source.DEFAULT));
    }
    return new Settings(values);
  }

  /** A setting's text and origin. */
  public Value value(Setting setting) {
    Value value = values.get(setting);
    if (value == null) {
      throw new IllegalStateException(setting + " was not resolved");
    }
    return value;
  }

  /** A setting's text. */
  public String text(Setting setting) {
    return value(setting).text();
  }

  /** The texts by key, for people. */
  public Map<String, String> effective() {
    Map<String, String> texts = new LinkedHashMap<>();
    values.forEach((setting, value) -> texts.put(setting.key(), value.text()));
    return texts;
  }

  /** What is wrong with a setting, in the words of where it was given. */
  BadSetting bad(Setting setting, String problem) {
    return new BadSetting(
        switch (value(setting).source()) {
          case FLAG, DEFAULT -> setting.flag() + ": " + problem;
          case ENVIRONMENT -> setting.variable() + ": " + problem;
          case FILE -> setting.key() + " in " + text(Setting.CONFIG) + ": " + problem;
        });
  }

  private static void refuseMisspelt(Map<String, String> environment) {
    for (String name : environment.keySet()) {
      if (!name.startsWith("ORBITKV_")) {
        continue;
      }
      int least = Integer.MAX_VALUE;
      String near = "";
      for (Setting setting : Setting.values()) {
        int distance = distance(name, setting.variable());
        if (distance < least) {
          least = distance;
          near = setting.variable();
        }
      }
      if (least > 0 && least <= MOST_SLIPS) {
        throw new BadSetting(
            "the environment has %s, which is no setting; did you mean %s?".formatted(name, near));
      }
    }
  }

  private static Map<Setting, String> read(Path path) {
    String written;
    JsonNode root;
    try {
      written = Files.readString(path);
      root = new TomlMapper().readTree(written);
    } catch (JacksonException malformed) {
      throw new BadSetting(
          "%s, line %d, is no TOML: %s"
              .formatted(
                  path,
                  malformed.getLocation() == null ? 1 : malformed.getLocation().getLineNr(),
                  malformed.getOriginalMessage()));
    } catch (IOException unreadable) {
      throw new BadSetting(path + " cannot be read: " + FileTrouble.text(unreadable));
    }
    Map<Setting, String> texts = new EnumMap<>(Setting.class);
    for (Map.Entry<String, JsonNode> entry : root.properties()) {
      if (entry.getValue().isObject()) {
        throw new BadSetting(
            "%s has the section [%s]; settings stand outside of sections, such as pool-size ="
                    .formatted(path, entry.getKey())
                + " \"4gb\"");
      }
      Setting setting = named(entry.getKey());
      if (setting == null || setting == Setting.CONFIG) {
        throw new BadSetting(
            "%s%s has the unknown key %s; did you mean %s?"
                .formatted(
                    path, line(written, entry.getKey()), entry.getKey(), nearest(entry.getKey())));
      }
      texts.put(setting, text(path, entry.getKey(), entry.getValue()));
    }
    return texts;
  }

  /** In which line a key is set, for people; empty if that cannot be told. */
  private static String line(String written, String key) {
    List<String> lines = written.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String text = lines.get(i).strip().replace("\"", "").replace("'", "");
      if (text.startsWith(key) && text.substring(key.length()).strip().startsWith("=")) {
        return ", line " + (i + 1) + ",";
      }
    }
    return "";
  }

  private static @Nullable Setting named(String key) {
    for (Setting setting : Setting.values()) {
      if (setting.key().equals(key)) {
        return setting;
      }
    }
    return null;
  }

  private static String text(Path path, String key, JsonNode value) {
    if (value.isBoolean()) {
      return value.booleanValue() ? "on" : "off";
    }
    if (value.isArray()) {
      StringBuilder joined = new StringBuilder();
      for (JsonNode element : value) {
        joined.append(joined.isEmpty() ? "" : ",").append(text(path, key, element));
      }
      return joined.toString();
    }
    if (value.isTextual() || value.isIntegralNumber()) {
      return value.asText();
    }
    throw new BadSetting(path + ": " + key + " is neither text, number, list nor true or false");
  }

  /** The known key that is fewest changes of a letter away. */
  static String nearest(String key) {
    String best = "";
    int least = Integer.MAX_VALUE;
    for (Setting setting : Setting.values()) {
      int distance = distance(key, setting.key());
      if (setting != Setting.CONFIG && distance < least) {
        least = distance;
        best = setting.key();
      }
    }
    return best;
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
