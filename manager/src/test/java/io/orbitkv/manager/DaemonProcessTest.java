package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.ControlClient;
import io.orbitkv.client.QueryResult;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process shows: signals, exit codes, a kill. */
class DaemonProcessTest {
  @TempDir private Path folder;

  @Test
  void shouldEndWithin5SecondsOfSigtermWithOpenWork() throws Exception {
    try (ProcessDaemon daemon = new ProcessDaemon(folder)) {
      daemon.start();
      ClientOptions options = ClientOptions.of(daemon.socketPath()).withReconnect(false);
      try (Engine engine = new Engine(options, "engine-a")) {
        engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
        assertInstanceOf(
            QueryResult.Ready.class, engine.client.query(Engine.query("q", Engine.keys(1, 4))));
        assertEquals(0, daemon.terminate(5));
      }
      assertTrue(daemon.output().contains("ended at journal position"), daemon.output());
      assertFalse(Files.exists(Path.of(daemon.socketPath())));
    }
  }

  @Test
  void shouldEndInOrderWhenToldToAsSoonAsTheSocketIsThere() throws Exception {
    try (ProcessDaemon daemon = new ProcessDaemon(folder)) {
      daemon.launch();
      long deadline = System.nanoTime() + 60_000_000_000L;
      while (!Files.exists(Path.of(daemon.socketPath()))) {
        assertTrue(System.nanoTime() < deadline, "no socket within 60 s");
        Thread.onSpinWait();
      }
      assertEquals(0, daemon.terminate(5));
      assertTrue(daemon.output().contains("ended at journal position"), daemon.output());
      daemon.start();
      assertEquals(2, epoch(daemon));
      assertTrue(daemon.output().contains("folded=0"), daemon.output());
      assertEquals(0, daemon.terminate(5));
    }
  }

  @Test
  void shouldServeAgainAfterAKillWithTheNextEpoch() throws Exception {
    try (ProcessDaemon daemon = new ProcessDaemon(folder)) {
      daemon.start();
      try (Engine engine = new Engine(ClientOptions.of(daemon.socketPath()), "engine-a")) {
        engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
        engine.client.query(Engine.query("q", Engine.keys(1, 4)));
        daemon.kill();
        daemon.start();
        assertEquals(2, epoch(daemon));
        long deadline = System.nanoTime() + 5_000_000_000L;
        while (!(engine.client.query(Engine.query("q", Engine.keys(1, 4)))
            instanceof QueryResult.Miss)) {
          assertTrue(System.nanoTime() < deadline, "reconnects within 5 s");
          Thread.sleep(20);
        }
      }
      assertEquals(0, daemon.terminate(5));
    }
  }

  private static long epoch(ProcessDaemon daemon) {
    return switch (ControlClient.connect(ClientOptions.of(daemon.socketPath()))) {
      case Answer.Ok<ControlClient>(ControlClient client) -> {
        try (client) {
          yield client.hello().epoch();
        }
      }
      case Answer.Refused<ControlClient>(var refusal) -> throw new AssertionError(refusal);
    };
  }
}
