package io.orbitkv.state.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Stories of a catalog shard as text: a line that begins with {@code >} is a command, the line
 * below it is the answer. The whole is compared, so a change of any answer shows as a change of the
 * text.
 */
class CatalogTranscriptTest {
  @Test
  void shouldAnswerAHandoffThatMovesAMember() throws IOException {
    check("handoff.txt");
  }

  @Test
  void shouldAnswerLateWordsOfAnAttemptThatWasRolledBack() throws IOException {
    check("late-words.txt");
  }

  @Test
  void shouldAnswerRunsOfOwners() throws IOException {
    check("owners.txt");
  }

  private static void check(String name) throws IOException {
    String text;
    try (InputStream in = CatalogTranscriptTest.class.getResourceAsStream(name)) {
      assertNotNull(in, name);
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    CatalogState state = new CatalogState(3);
    StringBuilder played = new StringBuilder();
    for (String line : text.lines().toList()) {
      if (line.startsWith("> snapshot")) {
        played.append(line).append('\n');
        played.append(new String(CatalogSnapshot.write(state), StandardCharsets.US_ASCII));
      } else if (line.startsWith("> ")) {
        played.append(line).append('\n');
        played.append(answer(state.apply(command(line.substring(2))))).append('\n');
      } else if (line.startsWith("#") || line.isEmpty()) {
        played.append(line).append('\n');
      }
    }
    assertEquals(text, played.toString(), name);
  }

  private static CatalogCommand command(String line) {
    List<String> words = List.of(line.split(" ", -1));
    return switch (words.get(0)) {
      case "found" -> new Found(nodes(words.get(1)));
      case "open" ->
          new OpenStream(
              new NodeId(words.get(1)), new UUID(0, number(words.get(2))), number(words.get(3)));
      case "fence" -> new FenceOwner(new NodeId(words.get(1)), number(words.get(2)));
      case "forget" -> new ForgetOwner(new NodeId(words.get(1)), number(words.get(2)));
      case "prepare" ->
          new PrepareHandoff(number(words.get(1)), number(words.get(2)), nodes(words.get(3)));
      case "caught-up" -> new CaughtUp(number(words.get(1)));
      case "commit" -> new CommitHandoff(number(words.get(1)));
      case "retire" -> new RetireHandoff(number(words.get(1)));
      case "roll-back" -> new RollBackHandoff(number(words.get(1)));
      default -> throw new IllegalArgumentException(line);
    };
  }

  private static long number(String word) {
    return Long.parseLong(word);
  }

  private static List<NodeId> nodes(String names) {
    return Stream.of(names.split(",", -1)).map(NodeId::new).toList();
  }

  private static String answer(CatalogAnswer answer) {
    return switch (answer) {
      case CatalogAnswer.Accepted(long position, var placement) ->
          "accepted at " + position + ", " + placement(placement);
      case CatalogAnswer.Refused(var reason, var placement) ->
          "refused " + reason + " (" + reason.category() + "), " + placement(placement);
    };
  }

  private static String placement(@Nullable Placement placement) {
    return placement == null
        ? "no placement"
        : placement.members().stream()
            .map(NodeId::text)
            .collect(Collectors.joining(",", "generation " + placement.generation() + " ", ""));
  }
}
