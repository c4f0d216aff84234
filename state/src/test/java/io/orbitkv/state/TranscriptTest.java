package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Plays the stories in {@code src/test/resources/transcripts}: facts, a line {@code ----}, and what
 * they must lead to, up to an empty line. A fact behind {@code !} is tried on a copy, must be
 * refused, and its message is part of the text. After a change that is meant, {@code
 * -Dtranscripts.rewrite=true} writes the files anew, to be reviewed as a diff.
 */
class TranscriptTest {
  private static final Path FOLDER = Path.of("src/test/resources/transcripts");

  @TestFactory
  Stream<DynamicTest> shouldPlayTranscripts() throws IOException {
    List<Path> files;
    try (Stream<Path> listed = Files.list(FOLDER)) {
      files = listed.sorted().toList();
    }
    assertFalse(files.isEmpty());
    return files.stream()
        .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> play(file)));
  }

  private static void play(Path file) throws IOException {
    String written = Files.readString(file);
    String played = new Story().play(written);
    if (Boolean.getBoolean("transcripts.rewrite")) {
      Files.writeString(file, played);
    } else {
      assertEquals(written, played);
    }
  }

  /** One transcript and the state it has reached. */
  private static final class Story {
    private final HostState state = new HostState();
    private final List<HostEvent> applied = new ArrayList<>();
    private final StringBuilder output = new StringBuilder();

    String play(String text) {
      StringBuilder result = new StringBuilder();
      boolean expected = false;
      for (String line : text.lines().toList()) {
        if (line.isEmpty()) {
          expected = false;
        }
        if (expected) {
          continue;
        }
        result.append(line).append("\n");
        if (line.equals("----")) {
          result.append(output).append(StateText.print(state));
          output.setLength(0);
          expected = true;
        } else if (line.startsWith("!")) {
          output.append(refusal(line.substring(1)));
        } else if (!line.isEmpty() && !line.startsWith("#")) {
          apply(FactText.parse(line));
        }
      }
      return result.toString();
    }

    private void apply(HostEvent event) {
      applied.add(event);
      state.apply(
          fact(applied.size(), event),
          (offset, bytes, generation) ->
              output.append("freed @" + offset + " bytes=" + bytes + " gen=" + generation + "\n"));
      HostInvariants.checkDeep(state);
    }

    private String refusal(String line) {
      HostState copy = new HostState();
      for (int i = 0; i < applied.size(); i++) {
        copy.apply(fact(i + 1, applied.get(i)), Effects.NONE);
      }
      try {
        copy.apply(fact(applied.size() + 1, FactText.parse(line)), Effects.NONE);
      } catch (BrokenInvariant broken) {
        return broken.getMessage() + "\n";
      }
      return "NOT REFUSED:" + line + "\n";
    }

    private static Fact fact(long position, HostEvent event) {
      return new Fact(position, position * 10, event);
    }
  }
}
