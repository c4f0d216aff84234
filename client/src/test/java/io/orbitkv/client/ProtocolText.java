package io.orbitkv.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What docs/protocol.md promises in a form that tests can compare with. */
public final class ProtocolText {
  private static final Pattern GOLDEN =
      Pattern.compile("```golden (\\S+)\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern JSON = Pattern.compile("```json\\n(.*?)```", Pattern.DOTALL);

  private ProtocolText() {}

  /** The text. */
  public static String read() throws IOException {
    Path path = Path.of("..", "docs", "protocol.md");
    return Files.readString(Files.exists(path) ? path : Path.of("docs", "protocol.md"));
  }

  /** The byte-for-byte examples by name. */
  public static Map<String, byte[]> golden() throws IOException {
    Map<String, byte[]> examples = new LinkedHashMap<>();
    Matcher matcher = GOLDEN.matcher(read());
    while (matcher.find()) {
      examples.put(
          matcher.group(1), HexFormat.of().parseHex(matcher.group(2).replaceAll("\\s", "")));
    }
    return examples;
  }

  /** The JSON examples in their order. */
  public static List<String> json() throws IOException {
    List<String> examples = new ArrayList<>();
    Matcher matcher = JSON.matcher(read());
    while (matcher.find()) {
      examples.add(matcher.group(1));
    }
    return examples;
  }
}
