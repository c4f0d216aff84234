package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.PublishResult;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A daemon in its own process, killed while an engine publishes: what the next one serves from a
 * pool that was kept, and from SSD, is what the journal says, no block more or less, and every byte
 * of it is right.
 */
class KillUnderLoadTest {
  private static final int PUBLISHED_BEFORE_KILL = 40;

  @TempDir private Path folder;

  /** Publishes until the daemon is gone; answers how many numbers it began. */
  private int publishUntilKilled(ProcessDaemon daemon) throws Exception {
    AtomicInteger begun = new AtomicInteger();
    ClientOptions options = ClientOptions.of(daemon.socketPath()).withReconnect(false);
    try (Engine engine = new Engine(options, "engine-a")) {
      Thread killer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (begun.get() < PUBLISHED_BEFORE_KILL) {
                      Thread.onSpinWait();
                    }
                    daemon.kill();
                  });
      PublishResult result;
      do {
        KeptBlocks.fill(engine, begun.incrementAndGet());
        result = engine.client.publish(Engine.publish("p", KeptBlocks.keys(begun.get()), 0));
      } while (result instanceof PublishResult.Published);
      killer.join();
    }
    return begun.get();
  }

  private void assertServes(ProcessDaemon daemon, HostState died, int begun, IntPredicate kept)
      throws Exception {
    int found = 0;
    try (Engine engine = new Engine(ClientOptions.of(daemon.socketPath()), "engine-a")) {
      for (int number = 1; number <= begun; number++) {
        int expected = KeptBlocks.leading(died, number, kept);
        assertEquals(expected, KeptBlocks.restored(engine, number), "blocks of " + number);
        found += expected;
      }
    }
    assertTrue(found > 0, "something outlived the daemon");
  }

  @Test
  void shouldAdoptWhatTheJournalSaysIsSealed() throws Exception {
    Path shared = Files.createTempDirectory(Path.of("/dev/shm"), "orbitkv-test");
    try (ProcessDaemon daemon =
        new ProcessDaemon(folder, "--pool-persist", shared.toString(), "--inline-copy", "0")) {
      daemon.start();
      int begun = publishUntilKilled(daemon);
      HostState died = KeptBlocks.fold(folder.resolve("journal"));
      daemon.start();
      assertServes(daemon, died, begun, died::sealed);
      assertEquals(0, daemon.terminate(5));
      assertTrue(daemon.output().contains("pool: adopted"), daemon.output());
      assertEquals(died.sealedBlocks(), KeptBlocks.fold(folder.resolve("journal")).sealedBlocks());
    } finally {
      delete(shared);
    }
  }

  @Test
  void shouldServeFromSsdWhatTheJournalSaysLiesThere() throws Exception {
    try (ProcessDaemon daemon =
        new ProcessDaemon(
            folder,
            "--ssd-cache-path",
            folder.resolve("ssd").toString(),
            "--ssd-cache-capacity",
            "64mb")) {
      daemon.start();
      int begun = publishUntilKilled(daemon);
      HostState died = KeptBlocks.fold(folder.resolve("journal"));
      assertTrue(died.ssdExtents() > 0, "some writes ended before the kill");
      daemon.start();
      assertServes(daemon, died, begun, died::onSsd);
      assertEquals(0, daemon.terminate(5));
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
