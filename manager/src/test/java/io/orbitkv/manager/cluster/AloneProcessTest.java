package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.ClientOptions;
import io.orbitkv.manager.Engine;
import io.orbitkv.manager.ProcessDaemon;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Manager that works alone has nothing to do with others. */
class AloneProcessTest {
  /** What only a Manager among others needs. */
  private static final List<String> OF_OTHERS =
      List.of(
          "io.orbitkv.catalog.",
          "io.orbitkv.transfer.",
          "io.orbitkv.manager.cluster.",
          "io.grpc.",
          "io.netty.",
          "io.etcd.",
          "org.apache.ratis.");

  @TempDir private Path folder;

  @Test
  void shouldLoadNoClassOfWhatWorksWithOthers() throws Exception {
    Path classes = folder.resolve("classes");
    try (ProcessDaemon daemon = new ProcessDaemon(folder)) {
      daemon.withJvmOption("-Xlog:class+load:file=" + classes);
      daemon.start();
      try (Engine engine = new Engine(ClientOptions.of(daemon.socketPath()), "engine")) {
        engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
        engine.client.query(Engine.query("q", Engine.keys(1, 4)));
      }
      assertEquals(0, daemon.terminate(20));
    }
    try (Stream<String> lines = Files.lines(classes)) {
      List<String> loaded =
          lines.filter(line -> OF_OTHERS.stream().anyMatch(line::contains)).toList();
      assertTrue(loaded.isEmpty(), loaded.toString());
    }
  }
}
