package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PendingPrepare;
import io.orbitkv.client.PrepareResult;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.manager.config.Setting;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Queries and preparations that need the disk, through the channel of a daemon whose pool has room
 * for 128 blocks and whose SSD has room for all that is published.
 */
class SsdQueriesTest {
  private static final int BATCH = 32;
  private static final int BATCHES = 10;
  private static final int WAIT_MILLIS = 10_000;

  @TempDir private Path folder;
  private RunningDaemon daemon;
  private Engine engine;

  @BeforeEach
  void publishMoreThanFits() throws Exception {
    daemon =
        new RunningDaemon(
            folder,
            Map.of(
                Setting.POOL_SIZE,
                "1mb",
                Setting.SSD_CACHE_PATH,
                folder.resolve("tier").toString(),
                Setting.SSD_CACHE_CAPACITY,
                "8mb"));
    engine = new Engine(daemon.clientOptions(), "engine");
    for (int batch = 0; batch < BATCHES; batch++) {
      for (int page = 0; page < BATCH; page++) {
        engine.fill(page, seed(batch, page));
      }
      PublishResult.Published published =
          assertInstanceOf(
              PublishResult.Published.class,
              engine.client.publish(Engine.publish("p", keys(batch), 0)));
      assertEquals((long) BATCH * 2 * Engine.LAYER_BYTES, published.storedBytes());
      status(
          "everything is written",
          ssd -> ssd.at("/ssd/queuedBytes").asLong() + ssd.at("/ssd/backlogBytes").asLong() == 0);
    }
  }

  @AfterEach
  void holdNothing() throws Exception {
    nothingIsHeld();
    engine.close();
    daemon.close();
  }

  private static long seed(int batch, int page) {
    return 1000L * batch + page;
  }

  private static KeyRun keys(int batch) {
    return Engine.keys(batch, BATCH);
  }

  private JsonNode status(String what, Predicate<JsonNode> holds) throws Exception {
    long deadline = System.nanoTime() + WAIT_MILLIS * 1_000_000L;
    while (true) {
      JsonNode status = status();
      if (holds.test(status)) {
        return status;
      }
      assertTrue(System.nanoTime() < deadline, what + ": " + status);
      Thread.sleep(5);
    }
  }

  private JsonNode status() throws IOException {
    return new ObjectMapper().readTree(get("/status"));
  }

  private String get(String path) throws IOException {
    int port = daemon.daemon().httpAddress().orElseThrow().getPort();
    try (InputStream body = URI.create("http://127.0.0.1:" + port + path).toURL().openStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void nothingIsHeld() throws Exception {
    JsonNode status =
        status(
            "reservations return to zero",
            s ->
                s.at("/budget/usedBytes").asLong() == 0
                    && s.at("/tickets").asLong() == 0
                    && s.at("/leases").asLong() == 0
                    && s.at("/ssd/loadingBytes").asLong() == 0
                    && s.at("/ssd/tasks").asLong() == 0);
    assertEquals(0, status.at("/ssd/verifyFailures").asLong());
  }

  private void restoreAndCheck(Lease lease, int batch) throws Exception {
    assertInstanceOf(
        RestoreResult.Restored.class, engine.client.restore(lease, Engine.restore("r", BATCH, 0)));
    try (Engine source = new Engine(daemon.clientOptions(), "source-of-bytes")) {
      for (int page = 0; page < BATCH; page++) {
        source.fill(page, seed(batch, page));
        assertArrayEquals(source.page(page), engine.page(page), "page " + page);
      }
    }
    assertEquals(true, engine.client.release(lease).orThrow());
  }

  private QueryResult.Ready waitFor(Ticket ticket) {
    return assertInstanceOf(
        QueryResult.Ready.class, engine.client.awaitAnswer(ticket, WAIT_MILLIS));
  }

  private Ticket loading(QueryResult result) {
    return assertInstanceOf(QueryResult.Loading.class, result, result.toString()).ticket();
  }

  @Test
  void shouldBringBackWhatAQueryWaitsFor() throws Exception {
    assertInstanceOf(QueryResult.Miss.class, engine.client.query(Engine.query("q", keys(0))));
    Ticket ticket = loading(engine.client.queryWaiting(Engine.query("q", keys(0)), 0));
    restoreAndCheck(waitFor(ticket).lease(), 0);
  }

  @Test
  void shouldTellOperatorsOfBothTiers() throws Exception {
    JsonNode ssd = status().path("ssd");
    assertEquals(BATCH * BATCHES, ssd.path("blocks").asInt());
    assertTrue(ssd.path("onlyBlocks").asInt() >= BATCH * BATCHES - 128, ssd.toString());
    assertEquals(1.0, ssd.path("writeAmplification").asDouble(), 0.001, "nothing is written twice");
    assertEquals(0, ssd.path("skippedBlocks").asInt());
    assertEquals(BATCH * BATCHES * 8192L, ssd.path("admittedBytes").asLong());
    JsonNode blocks = status().path("blocks");
    assertEquals(blocks.path("sealed").asLong(), blocks.path("live").asLong());
    assertEquals(ssd.path("onlyBlocks").asLong(), blocks.path("ssdOnly").asLong());
    String metrics = get("/metrics");
    assertTrue(
        metrics.contains("\norbitkv_blocks " + blocks.path("live").asLong() + "\n"), metrics);
    assertTrue(metrics.contains("orbitkv_ssd_write_amplification 1"), metrics);
    assertTrue(metrics.contains("orbitkv_ssd_backlog_blocks 0"), metrics);
    assertTrue(metrics.contains("orbitkv_ssd_verify_failures_total 0"), metrics);
    Set<String> tiers = new TreeSet<>();
    new ObjectMapper()
        .readTree(get("/blocks?namespace=ns&limit=1000"))
        .path("blocks")
        .forEach(block -> tiers.add(block.path("tier").asText()));
    assertEquals(Set.of("dram+ssd", "ssd"), tiers);
  }

  @Test
  void shouldPrepareSoThatAQueryNeedNotWait() throws Exception {
    PendingPrepare prepare =
        engine.client.prepare(Engine.query("q", keys(1)), WAIT_MILLIS).orThrow();
    assertEquals(
        Optional.of(new PrepareResult.Prepared(BATCH * Engine.PAGE_TOKENS, false)),
        prepare.await(WAIT_MILLIS));
    nothingIsHeld();
    QueryResult.Ready ready =
        assertInstanceOf(QueryResult.Ready.class, engine.client.query(Engine.query("q", keys(1))));
    restoreAndCheck(ready.lease(), 1);
  }

  @Test
  void shouldGiveEachOfManyPreparationsItsOwnEnd() {
    List<PendingPrepare> all = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      all.add(engine.client.prepare(Engine.query("q" + i, keys(i % 3)), WAIT_MILLIS).orThrow());
    }
    for (int i = 0; i < 24; i += 3) {
      engine.client.cancel(all.get(i)).orThrow();
    }
    for (PendingPrepare each : all) {
      PrepareResult result = each.await(WAIT_MILLIS).orElseThrow();
      switch (result) {
        case PrepareResult.Prepared _, PrepareResult.Cancelled _ -> {}
        case PrepareResult.Refused(var refusal) ->
            assertTrue(
                Set.of(RefusalCode.QUEUE_FULL.name(), RefusalCode.BUDGET_INSTANCE.name())
                    .contains(refusal.name()),
                refusal.toString());
      }
    }
    assertEquals(0, engine.client.outstanding());
  }

  @Test
  void shouldGiveEverythingBackWhenQueriesAreReplacedCancelledOrOutOfTime() {
    List<Ticket> tickets = new ArrayList<>();
    for (int batch = 0; batch < 6; batch++) {
      var result = engine.client.queryReplacing(Engine.query("same", keys(batch)), 1);
      if (result instanceof QueryResult.Loading(Ticket ticket)) {
        tickets.add(ticket);
      } else if (result instanceof QueryResult.Ready ready) {
        assertEquals(true, engine.client.release(ready.lease()).orThrow());
      }
    }
    engine.client.cancel(tickets.getLast()).orThrow();
    for (Ticket ticket : tickets) {
      if (engine.client.awaitAnswer(ticket, WAIT_MILLIS) instanceof QueryResult.Ready ready) {
        assertEquals(true, engine.client.release(ready.lease()).orThrow());
      }
    }
    assertEquals(0, engine.client.outstanding());
  }

  @Test
  void shouldGiveEverythingBackWhenASessionGoesAway() throws Exception {
    try (Engine other = new Engine(daemon.clientOptions(), "other")) {
      for (int batch = 0; batch < 4; batch++) {
        loading(other.client.queryWaiting(Engine.query("q" + batch, keys(batch)), WAIT_MILLIS));
      }
    }
    nothingIsHeld();
  }
}
