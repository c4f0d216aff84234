package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine root =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @Test
  void shouldPrintTheVersion() {
    assertEquals(0, root.execute("version"));
    assertEquals("orbitkv " + Version.TEXT, out.toString().strip());
    assertFalse(Version.TEXT.contains("$"), Version.TEXT);
  }

  @Test
  void shouldListEveryCommandWithOneLine() {
    assertEquals(0, root.execute("--help"));
    String help = out.toString();
    root.getSubcommands()
        .forEach(
            (name, command) -> {
              assertTrue(help.contains("  " + name), name + " is missing from\n" + help);
              assertEquals(
                  name.equals("help") ? 2 : 1,
                  command.getCommandSpec().usageMessage().description().length,
                  name);
            });
    assertTrue(help.contains("Exit codes:"), help);
  }

  @Test
  void shouldRefuseAnUnknownCommandAsUsage() {
    assertEquals(2, root.execute("frobnicate"));
    assertTrue(err.toString().contains("frobnicate"), err.toString());
    assertEquals(2, root.execute());
  }

  @Test
  void shouldSayWhatIsWrongInAFewLines() {
    assertEquals(2, root.execute("replay", "--diff", "1"));
    assertTrue(err.toString().startsWith("orbitkv: "), err.toString());
    assertTrue(err.toString().contains("'orbitkv replay --help' tells"), err.toString());
    assertTrue(err.toString().lines().count() <= 3, err.toString());
  }

  @Test
  void shouldNotPrintTheUsageOfACommandWhoseOwnCommandsAreHidden() {
    assertEquals(2, root.execute("demo", "--requests", "0"));
    assertTrue(err.toString().contains("'orbitkv demo --help' tells"), err.toString());
    assertTrue(err.toString().lines().count() <= 3, err.toString());
    assertEquals(1, root.execute("demo", "--trace", "/nonexistent"));
    assertFalse(err.toString().contains("java."), err.toString());
  }

  @Test
  void shouldStartAManagerWithoutTheOtherCommands() {
    assertNotNull(Main.managerAlone(new String[] {"manager", "--pool-size", "1gb"}));
    assertNull(Main.managerAlone(new String[] {"manager", "--help"}));
    assertNull(Main.managerAlone(new String[] {"manager", "--version"}));
    assertNull(Main.managerAlone(new String[] {"manager", "--nonsense"}));
    assertNull(Main.managerAlone(new String[] {"manager", "stray"}));
  }

  @Test
  void shouldSayTheSameOfABadSettingEitherWay() {
    String[] args = {"manager", "--pool-size", "much"};
    CommandLine alone = Main.managerAlone(args);
    assertNotNull(alone);
    StringWriter said = new StringWriter();
    alone.setErr(new PrintWriter(said));
    assertEquals(2, alone.execute("--pool-size", "much"));
    assertEquals(2, root.execute(args));
    assertEquals(err.toString(), said.toString());
  }

  @Test
  void shouldGenerateTheBashCompletion() {
    assertEquals(0, root.execute("completion", "bash"));
    assertTrue(out.toString().contains("complete -F _complete_orbitkv"), out.toString());
  }
}
