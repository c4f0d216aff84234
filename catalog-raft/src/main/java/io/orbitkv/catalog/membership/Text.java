package io.orbitkv.catalog.membership;

import java.util.Map;
import java.util.TreeMap;

/** Values in etcd: lines of {@code name=value} in order of names, so that people can read them. */
final class Text {
  private Text() {}

  static String write(Map<String, String> fields) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(fields)
        .forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString();
  }

  /** The fields; lines without a {@code =} are passed over. */
  static Map<String, String> read(String text) {
    Map<String, String> fields = new TreeMap<>();
    for (String line : text.lines().toList()) {
      int at = line.indexOf('=');
      if (at > 0) {
        fields.put(line.substring(0, at), line.substring(at + 1));
      }
    }
    return fields;
  }
}
