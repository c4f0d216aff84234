package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.TracePlayer;
import io.orbitkv.manager.workload.TraceRequest;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.PoolCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed while its pool is full, and the queries that meet its successor. */
class AdoptionProcessTest {
  private static final int BLOCKS_EACH = 8;
  private static final int PROMPTS = 192;
  private static final int KILLS = 5;

  /** A prompt of 2 MiB: all of them take some tenths of a second to verify. */
  private static final EngineShape SHAPE =
      new EngineShape("adoption", "adoption", 1, (256 << 10) - 64, 64, BLOCKS_EACH);

  private static final int POOL_MEBIBYTES = 448;

  @TempDir private Path folder;
  private Path shared = Path.of("");

  @BeforeEach
  void makeFolder() throws IOException {
    shared = Files.createTempDirectory(Path.of("/dev/shm"), "orbitkv-test");
  }

  @AfterEach
  void deleteFolder() throws IOException {
    try (Stream<Path> files = Files.list(shared)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(shared);
  }

  @Test
  void shouldAnswerQueriesWhileItVerifiesWhatItKept() throws Exception {
    ManagerProcess manager = start();
    try {
      try (Engine engine = Engine.connect(manager.socket(), SHAPE)) {
        TracePlayer player = new TracePlayer(engine, true);
        for (int prompt = 0; prompt < PROMPTS; prompt++) {
          assertEquals(0, player.play(prompt(prompt), "publish-" + prompt));
        }
      }
      int waits = 0;
      for (int kill = 0; kill < KILLS && waits == 0; kill++) {
        manager.kill();
        manager = start();
        try (Engine engine = Engine.connect(manager.socket(), SHAPE)) {
          TracePlayer player = new TracePlayer(engine, true);
          // What was used last is verified first, so these are the last; the player compares every
          // byte.
          for (int prompt = 0; prompt < PROMPTS; prompt += 12) {
            assertEquals(BLOCKS_EACH, player.play(prompt(prompt), "kill-" + kill + "-" + prompt));
          }
          waits += player.totals().waits();
        }
      }
      assertTrue(
          waits > 0, "in " + KILLS + " starts no query came before all was verified: none waited");
    } finally {
      manager.close();
    }
    HostState state = KeptBlocks.fold(manager.journal());
    assertEquals(PROMPTS * BLOCKS_EACH, state.sealedBlocks() + state.unverifiedBlocks());
    assertTrue(state.totals().get(PoolCounter.ADOPTED_BLOCKS) > 0);
  }

  private ManagerProcess start() {
    return ManagerProcess.start(
        folder,
        List.of(
            "--pool-size",
            POOL_MEBIBYTES + "mb",
            "--pool-persist",
            shared.toString(),
            "--copy-workers",
            "1"),
        List.of("-Xmx256m"));
  }

  private static TraceRequest prompt(int number) {
    long[] blocks = new long[BLOCKS_EACH];
    for (int i = 0; i < BLOCKS_EACH; i++) {
      blocks[i] = (long) number * BLOCKS_EACH + i;
    }
    return new TraceRequest(0, 0, 0, blocks);
  }
}
