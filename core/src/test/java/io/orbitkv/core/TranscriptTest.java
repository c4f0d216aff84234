package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands, the facts they make and the answers, as text that is reviewed like code. After a change
 * that is meant, write them anew with {@code -Dtranscripts=update} and read the difference.
 */
class TranscriptTest {
  private static final Path FOLDER = Path.of("src/test/resources/transcripts");

  @ParameterizedTest
  @ValueSource(
      strings = {"publish", "query", "ticket", "session", "restore", "evict", "journal", "restart"})
  void shouldPlayAsWritten(String name) throws IOException {
    Path file = FOLDER.resolve(name + ".txt");
    String written = Files.readString(file);
    String played = Transcript.play(written);
    if ("update".equals(System.getProperty("transcripts"))) {
      Files.writeString(file, played);
    } else {
      assertEquals(written, played, file.toString());
    }
  }
}
