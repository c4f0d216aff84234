package io.orbitkv.manager.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PendingRestore;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.control.Register.Staging;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.ffi.cuda.FakeCuda;
import io.orbitkv.manager.Engine;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.manager.RunningDaemon;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Staged sessions from the socket to the pages and back, over the fake driver. */
class StagedSessionTest {
  private static final int BLOCKS = 40;
  private static final int SECOND = 48;
  private static final long WAIT_NANOS = 10_000_000_000L;

  @TempDir Path folder;
  private final FakeCuda cuda = new FakeCuda();

  private RunningDaemon daemon() throws Exception {
    return daemon(new Cuda.Found.Present(cuda));
  }

  private RunningDaemon daemon(Cuda.Found found) throws Exception {
    return new RunningDaemon(
        folder,
        Map.of(),
        new LoopWiring() {
          @Override
          public Cuda.Found cuda() {
            return found;
          }
        });
  }

  private static void publish(GpuEngine engine, OrbitClient client, KeyRun keys) {
    for (int i = 0; i < keys.count(); i++) {
      engine.fill(i, i);
    }
    PublishResult.Published published =
        assertInstanceOf(
            PublishResult.Published.class, client.publish(Engine.publish("p", keys, 0)));
    assertEquals(keys.count(), published.reply().count(BlockOutcome.STORED));
  }

  private static Lease lease(OrbitClient client, KeyRun keys) {
    return assertInstanceOf(QueryResult.Ready.class, client.query(Engine.query("q", keys))).lease();
  }

  private static String get(RunningDaemon running, String path) throws Exception {
    InetSocketAddress at = running.daemon().httpAddress().orElseThrow();
    URI uri = URI.create("http://127.0.0.1:" + at.getPort() + path);
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
          .body()
          .replace(" : ", ":")
          .replace("\": ", "\":");
    }
  }

  private static boolean eventually(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      Thread.sleep(5);
    }
    return true;
  }

  @Test
  void shouldRestoreWhatWasPublishedToOtherPages() throws Exception {
    try (RunningDaemon running = daemon()) {
      try (GpuEngine engine = new GpuEngine(cuda, running.socket(), "a")) {
        try (OrbitClient client = engine.connect()) {
          KeyRun keys = Engine.keys(1, BLOCKS);
          publish(engine, client, keys);
          RestoreResult result =
              client.restore(lease(client, keys), Engine.restore("r", BLOCKS, SECOND));
          assertInstanceOf(RestoreResult.Restored.class, result, result::toString);
          for (int i = 0; i < BLOCKS; i++) {
            assertTrue(engine.holds(SECOND + i, i), "block " + i);
          }
          assertTrue(
              get(running, "/metrics").contains("orbitkv_gpu_loaded_bytes_total{gpu=\"GPU-"));
          assertTrue(get(running, "/status").contains("\"stagingRings\":1"));
          Gpus.View view = running.daemon().gpus().views().getFirst();
          assertEquals(1, view.openHandles());
          assertTrue(
              view.report().copies() < BLOCKS,
              "neighbours in the pool go in one piece: " + view.report());
        }
      }
    }
    assertEquals(FakeCuda.NO_LEAKS, cuda.leaks());
  }

  @Test
  void shouldSaveThroughAnAttachedSession() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a");
        OrbitClient client = engine.connect()) {
      OrbitClient save = client.openSaveSession().orThrow();
      KeyRun keys = Engine.keys(2, BLOCKS);
      publish(engine, save, keys);
      assertInstanceOf(
          RestoreResult.Restored.class,
          client.restore(lease(client, keys), Engine.restore("r", BLOCKS, SECOND)));
      assertTrue(engine.holds(SECOND + BLOCKS - 1, BLOCKS - 1));
    }
  }

  @Test
  void shouldBringLayersInOrder() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a");
        OrbitClient client = engine.connect()) {
      KeyRun keys = Engine.keys(3, BLOCKS);
      publish(engine, client, keys);
      PendingRestore pending =
          client
              .restoreAsync(lease(client, keys), Engine.restore("r", BLOCKS, SECOND), true, true)
              .orThrow();
      assertEquals(3, pending.awaitLayers(3, 5_000));
      RestoreResult result = pending.await(5_000).orElseThrow();
      assertInstanceOf(RestoreResult.Restored.class, result, result::toString);
      for (int i = 0; i < BLOCKS; i++) {
        assertTrue(engine.holds(SECOND + i, i), "block " + i);
      }
    }
  }

  @Test
  void shouldFailARestoreOfDamagedBytesAndDropTheBlock() throws Exception {
    for (boolean layered : new boolean[] {false, true}) {
      try (RunningDaemon running = daemon();
          GpuEngine engine = new GpuEngine(cuda, running.socket(), "a" + layered);
          OrbitClient client = engine.connect()) {
        KeyRun keys = Engine.keys(layered ? 4 : 5, BLOCKS);
        publish(engine, client, keys);
        Lease lease = lease(client, keys);
        cuda.corruptNextLoad();
        RestoreResult result =
            client
                .restoreAsync(lease, Engine.restore("r", BLOCKS, SECOND), layered, true)
                .orThrow()
                .await(5_000)
                .orElseThrow();
        RestoreResult.Failed failed =
            assertInstanceOf(RestoreResult.Failed.class, result, result::toString);
        assertEquals("VERIFY_FAILED", failed.why().name());
        assertInstanceOf(
            QueryResult.Miss.class, client.query(Engine.query("q2", keys)), "its first block");
      }
    }
  }

  @Test
  void shouldDrainBeforeItClosesWhenTheEngineIsGone() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a")) {
      OrbitClient client = engine.connect();
      KeyRun keys = Engine.keys(6, BLOCKS);
      publish(engine, client, keys);
      Lease lease = lease(client, keys);
      cuda.hold();
      client.restoreAsync(lease, Engine.restore("r", BLOCKS, SECOND), false, true).orThrow();
      assertTrue(
          eventually(() -> running.daemon().gpus().views().getFirst().report().busySlots() > 0));
      Thread closing = Thread.ofPlatform().daemon().start(client::close);
      Thread.sleep(100);
      assertEquals(1, cuda.openHandles(), "a copy is under way");
      cuda.release();
      closing.join(10_000);
      assertTrue(eventually(() -> cuda.openHandles() == 0));
      assertEquals(List.of(), running.daemon().gpus().problems());
    }
    assertEquals(FakeCuda.NO_LEAKS, cuda.leaks());
  }

  @Test
  void shouldKeepTheMappingOfACopyThatIsNotKnownToBeOver() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a")) {
      try (OrbitClient client = engine.connect()) {
        KeyRun keys = Engine.keys(7, BLOCKS);
        publish(engine, client, keys);
        Lease lease = lease(client, keys);
        cuda.failCopies();
        RestoreResult result = client.restore(lease, Engine.restore("r", BLOCKS, SECOND));
        RestoreResult.Failed failed =
            assertInstanceOf(RestoreResult.Failed.class, result, result::toString);
        assertEquals("COPY_FAILED", failed.why().name());
        assertTrue(
            running.daemon().health().problems().toString().contains("restart the daemon"),
            running.daemon().health().problems().toString());
      }
      assertTrue(eventually(() -> running.daemon().gpus().problems().size() == 2));
      assertEquals(1, cuda.openHandles());
    }
  }

  @Test
  void shouldTellWhyAKernelDidNotRun() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a");
        OrbitClient client = engine.connect()) {
      cuda.failKernels();
      PublishResult result = client.publish(Engine.publish("p", Engine.keys(8, 4), 0));
      PublishResult.Failed failed =
          assertInstanceOf(PublishResult.Failed.class, result, result::toString);
      assertTrue(failed.why().message().contains("CUresult 1"), failed.why().message());
    }
  }

  @Test
  void shouldRefuseWhatCannotBeServed() throws Exception {
    try (RunningDaemon running = daemon();
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a")) {
      assertRefused(
          engine,
          s -> with(s, "GPU-11111111-1111-1111-1111-111111111111", s.handle(), s.slotBytes()),
          "BAD_VALUE",
          "staging.deviceUuid");
      assertRefused(
          engine,
          s -> with(s, s.deviceUuid(), "0".repeat(128), s.slotBytes()),
          "BAD_BUFFER",
          "staging.handle");
      assertRefused(
          engine,
          s -> with(s, s.deviceUuid(), s.handle(), s.slotBytes() * 2),
          "BAD_BUFFER",
          "staging.handle");
      assertRefused(
          engine,
          s -> with(s, s.deviceUuid(), s.handle(), s.slotBytes() + 1),
          "BAD_VALUE",
          "staging.slotBytes");
      assertRefused(
          engine,
          s -> with(s, s.deviceUuid(), "x".repeat(128), s.slotBytes()),
          "BAD_VALUE",
          "staging.handle");
    }
    assertEquals(FakeCuda.NO_LEAKS, cuda.leaks());
  }

  @Test
  void shouldRefuseWithTheReasonWhereThereIsNoGpu() throws Exception {
    try (RunningDaemon running = daemon(new Cuda.Found.Absent("no driver here", "install one"));
        GpuEngine engine = new GpuEngine(cuda, running.socket(), "a")) {
      Refusal refusal =
          assertRefused(engine, UnaryOperator.identity(), "BUFFER_KIND", "buffers[0].kind");
      assertEquals("UNAVAILABLE", refusal.category().name());
      assertTrue(refusal.message().contains("no driver here"), refusal.message());
      assertEquals(List.of(), running.daemon().health().problems());
    }
  }

  private static Staging with(Staging s, String uuid, String handle, int slotBytes) {
    return new Staging(uuid, handle, s.offset(), slotBytes, s.loadSlots(), s.saveSlots());
  }

  private static Refusal assertRefused(
      GpuEngine engine, UnaryOperator<Staging> change, String name, String field) {
    Answer<OrbitClient> answer = engine.connect(change);
    if (!(answer instanceof Answer.Refused<OrbitClient>(Refusal refusal))) {
      throw new AssertionError("was registered: " + answer);
    }
    assertEquals(name, refusal.name(), refusal::toString);
    assertEquals(field, refusal.field(), refusal::toString);
    return refusal;
  }
}
