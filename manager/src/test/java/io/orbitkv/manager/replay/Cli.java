package io.orbitkv.manager.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.manager.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Runs {@code orbitkv replay} in this process. */
final class Cli {
  /** A state's digest changes with the state's definition; that it is equal is another test. */
  private static final Pattern DIGEST =
      Pattern.compile("(digest (?:at the end )?|DigestRecorded +|(?:is|has) )[0-9a-f]{16}");

  final int exit;
  final String out;
  final String err;

  private Cli(int exit, String out, String err) {
    this.exit = exit;
    this.out = out;
    this.err = err;
  }

  static Cli replay(Path dir, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] all = new String[arguments.length + 2];
    all[0] = "replay";
    all[1] = dir.toString();
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    int exit =
        Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(all);
    return new Cli(exit, out.toString(), err.toString());
  }

  /** Puts something else where the output differs from run to run. */
  Cli replacing(String pattern, String with) {
    return new Cli(exit, out.replaceAll(pattern, with), err.replaceAll(pattern, with));
  }

  /**
   * Compares the output with a checked-in file. Run with {@code -Dorbitkv.golden=write} to write
   * the file instead, and read the difference before committing it.
   */
  void assertGolden(String name) throws IOException {
    Path file =
        Path.of(System.getProperty("basedir", "."), "src/test/resources/replay", name + ".txt");
    String actual = DIGEST.matcher("exit " + exit + "\n" + out + err).replaceAll("$1DIGEST");
    if (System.getProperty("orbitkv.golden", "").equals("write")) {
      Files.writeString(file, actual);
    }
    assertEquals(Files.readString(file), actual, name);
  }
}
