package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.manager.config.Setting;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonTest {
  @TempDir private Path folder;

  @Test
  void shouldGiveBackWhatWasPublished() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder);
        Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      KeyRun keys = Engine.keys(1, 8);
      byte[][] published = new byte[8][];
      for (int i = 0; i < 8; i++) {
        engine.fill(i, i);
        published[i] = engine.page(i);
      }
      PublishResult.Published stored =
          assertInstanceOf(
              PublishResult.Published.class,
              engine.client.publish(Engine.publish("req-1", keys, 0)));
      assertEquals(8, stored.reply().count(BlockOutcome.STORED));
      QueryResult.Ready ready =
          assertInstanceOf(
              QueryResult.Ready.class, engine.client.query(Engine.query("req-2", keys)));
      assertEquals(8 * Engine.PAGE_TOKENS, ready.answer().boundaryToken());
      RestoreResult.Restored restored =
          assertInstanceOf(
              RestoreResult.Restored.class,
              engine.client.restore(ready.lease(), Engine.restore("req-2", 8, 32)));
      assertEquals(8L * 2 * Engine.LAYER_BYTES, restored.bytes());
      for (int i = 0; i < 8; i++) {
        assertArrayEquals(published[i], engine.page(32 + i), "block " + i);
      }
      assertTrue(engine.client.release(ready.lease()).orThrow());
    }
  }

  @Test
  void shouldStartANewEpochOverTheSameJournal() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder)) {
      assertEquals(1, running.daemon().epoch());
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
      }
      running.stop();
      running.startAgain();
      assertEquals(2, running.daemon().epoch());
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        assertInstanceOf(
            QueryResult.Miss.class, engine.client.query(Engine.query("r", Engine.keys(1, 4))));
      }
    }
  }

  @Test
  void shouldRefuseASecondDaemonOnTheSameJournal() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder)) {
      StartFailure failure =
          assertThrows(
              StartFailure.class,
              () ->
                  new RunningDaemon(
                      folder, Map.of(Setting.SOCKET, folder.resolve("other").toString())));
      assertTrue(failure.toString().contains("journal-in-use"), failure.toString());
      assertTrue(!failure.remedy().isEmpty());
      assertEquals(1, running.daemon().epoch());
    }
  }

  @Test
  void shouldRefuseASecondDaemonOnTheSameSocket() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder)) {
      StartFailure failure =
          assertThrows(
              StartFailure.class,
              () ->
                  new RunningDaemon(
                      folder, Map.of(Setting.JOURNAL, folder.resolve("other").toString())));
      assertTrue(failure.toString().contains("EADDRINUSE"), failure.toString());
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        assertTrue(engine.client.ping().orThrow() > 0);
      }
    }
  }
}
