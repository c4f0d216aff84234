package io.orbitkv.manager.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.manager.config.Setting;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

class PlainFlagsTest {

  @Test
  void shouldReadWhatPicocliReads() {
    for (List<String> words :
        List.of(
            List.<String>of(),
            List.of("--pool-size", "1gb", "--journal", "/j"),
            List.of("--pool-size=1gb", "--journal=/a=b"),
            List.of("--ssd-cache-path", "/a", "--ssd-cache-path", "/b,/c", "--pool-size", "2gb"),
            List.of("--lock-memory"),
            List.of("--lock-memory", "--pool-size", "1gb"),
            List.of("--lock-memory", "off", "--pool-size", "1gb"),
            List.of("--lock-memory=off"))) {
      assertEquals(picocli(words), PlainFlags.of(words).orElseThrow(), words.toString());
    }
  }

  @Test
  void shouldLeaveTheRestToPicocli() {
    for (List<String> words :
        List.of(
            List.of("--help"),
            List.of("--version"),
            List.of("--nonsense"),
            List.of("--nonsense=1"),
            List.of("stray"),
            List.of("@file"),
            List.of("--pool-size"),
            List.of("--pool-size", "--journal", "/j"),
            List.of("--pool-size", "-1"),
            List.of("--pool-size="),
            List.of("--pool-size", "\"1gb\""),
            List.of("--pool-size", "@file"),
            List.of("--pool-size", "1gb", "stray"),
            List.of("--pool-size", "1gb", "--pool-size", "2gb"))) {
      assertEquals(Optional.empty(), PlainFlags.of(words), words.toString());
    }
  }

  private static Map<Setting, String> picocli(List<String> words) {
    ManagerCommand command = new ManagerCommand();
    CommandLine line = new CommandLine(command);
    ManagerCommand.addOptions(line.getCommandSpec());
    ParseResult parsed = line.parseArgs(words.toArray(String[]::new));
    return ManagerCommand.flags(parsed);
  }
}
