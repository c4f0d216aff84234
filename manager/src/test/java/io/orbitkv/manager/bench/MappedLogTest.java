package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedLogTest {
  @TempDir Path dir;

  @Test
  void shouldReadWhatItWrote() throws IOException {
    MappedLog log = new MappedLog(dir.resolve("log"), 1_000);
    for (int i = 0; i < log.capacity() + 10; i++) {
      log.append();
    }
    assertEquals(log.capacity(), log.scan(log.capacity()));
    MappedLog empty = new MappedLog(dir.resolve("empty"), 1_000);
    empty.append();
    assertEquals(1, empty.scan(10));
  }
}
