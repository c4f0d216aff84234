package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.orbitkv.client.Answer;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.Registration;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.RegisterCheck;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.ffi.NumaNode;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
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
      assertFalse(Files.exists(folder.resolve("other")), "a refused start changes nothing");
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        assertTrue(engine.client.ping().orThrow() > 0);
      }
    }
  }

  @Test
  void shouldLeaveNothingBehindWhenWhatItNeedsIsTaken() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "not a socket");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Map<String, Map<Setting, String>> obstacles =
          Map.of(
              "is not a socket",
              Map.of(Setting.SOCKET, file.toString()),
              "HTTP cannot be served",
              Map.of(Setting.HTTP_ADDR, "127.0.0.1:" + taken.getLocalPort()),
              "no NUMA node 1000",
              Map.of(Setting.NUMA_NODE, "1000"));
      assumeFalse(NumaNode.online().isEmpty(), "the kernel of this host knows no NUMA nodes");
      obstacles.forEach(
          (why, settings) -> {
            StartFailure failure =
                assertThrows(StartFailure.class, () -> new RunningDaemon(folder, settings));
            assertTrue(failure.toString().contains(why), failure.toString());
            assertTrue(!failure.remedy().contains("other daemon"), failure.remedy());
          });
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(List.of(file), left.toList(), "a refused start changes nothing");
    }
  }

  @Test
  void shouldSayThatItsSocketAndItsJournalWereDeleted() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder)) {
      HealthCheck health = running.daemon().health();
      assertEquals(List.of(), health.problems());
      Files.delete(Path.of(running.socket()));
      String socket = String.join(" ", health.problems());
      assertTrue(socket.startsWith("socket: ") && socket.contains("deleted"), socket);
      delete(folder.resolve("journal"));
      long deadline = System.nanoTime() + 10_000_000_000L;
      while (health.problems().stream()
          .noneMatch(each -> each.startsWith("journal: ") && each.contains(" was deleted: "))) {
        assertTrue(System.nanoTime() < deadline, health.problems().toString());
        Thread.sleep(10);
      }
      Files.createFile(Path.of(running.socket()));
      assertTrue(String.join(" ", health.problems()).contains("was replaced"));
    }
  }

  private static void delete(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      List<Path> children;
      try (Stream<Path> files = Files.list(path)) {
        children = files.toList();
      }
      for (Path child : children) {
        delete(child);
      }
    }
    Files.delete(path);
  }

  @Test
  void shouldHoldAsManyShardsAsTheProtocolAllowsAndNameTheBoundWhenRefusing() throws Exception {
    assertEquals(HostState.MAX_SHARDS, RegisterCheck.MAX_SHARDS);
    try (RunningDaemon running = new RunningDaemon(folder);
        HostBuffer buffer = HostBuffer.create("engine", 64L * 4096)) {
      Registration one = Engine.registration("engine-a", "ns", buffer);
      String refusal =
          switch (OrbitClient.connect(running.clientOptions(), withShards(one, 65))) {
            case Answer.Ok<OrbitClient>(OrbitClient connected) -> {
              connected.close();
              yield "none";
            }
            case Answer.Refused<OrbitClient>(var refused) -> refused.toString();
          };
      assertTrue(refusal.contains("shardCount"), refusal);
      assertTrue(refusal.contains("65 is not from 1 to 64"), refusal);
      switch (OrbitClient.connect(running.clientOptions(), withShards(one, 64))) {
        case Answer.Ok<OrbitClient>(OrbitClient connected) -> connected.close();
        case Answer.Refused<OrbitClient>(var refused) ->
            throw new AssertionError("refused: " + refused);
      }
    }
  }

  private static Registration withShards(Registration of, int shardCount) {
    Register it = of.register();
    return new Registration(
        new Register(
            it.instance(),
            it.namespace(),
            it.format(),
            0,
            shardCount,
            it.role(),
            it.attachTo(),
            it.groups(),
            it.buffers(),
            it.layers()),
        of.buffers());
  }
}
