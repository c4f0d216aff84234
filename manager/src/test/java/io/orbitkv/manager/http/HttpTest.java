package io.orbitkv.manager.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.client.QueryResult;
import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.manager.Engine;
import io.orbitkv.manager.Main;
import io.orbitkv.manager.RunningDaemon;
import io.orbitkv.manager.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class HttpTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private RunningDaemon running;
  private String address;

  @BeforeEach
  void start() throws Exception {
    running = new RunningDaemon(folder);
    InetSocketAddress bound = running.daemon().httpAddress().orElseThrow();
    address = "127.0.0.1:" + bound.getPort();
  }

  @AfterEach
  void stop() {
    running.close();
  }

  @Test
  void shouldTellHealthVersionAndStatus() throws Exception {
    JsonNode health = json(get("/health"), 200);
    assertEquals("SERVING", health.path("status").asText());
    assertEquals(Version.TEXT, json(get("/version"), 200).path("version").asText());
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
      JsonNode status = json(get("/status"), 200);
      assertEquals(1, status.path("sessions").asInt());
      assertEquals(4, status.path("blocks").path("sealed").asInt());
      assertEquals(32 << 20, status.path("pool").path("bytes").asInt());
      assertTrue(status.path("pool").path("usedBytes").asLong() >= 4 * 4096);
      assertTrue(status.path("journal").path("position").asLong() > 4);
      assertEquals("lru", status.path("config").path("eviction").asText());
    }
  }

  @Test
  void shouldCountInMetricsWhatTheFoldCounts() throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
      engine.client.query(Engine.query("q", Engine.keys(1, 6)));
      engine.client.query(Engine.query("q2", Engine.keys(2, 3)));
      String page = get("/metrics").body();
      assertSample(page, "orbitkv_queries_total", 2);
      assertSample(page, "orbitkv_asked_blocks_total", 9);
      assertSample(page, "orbitkv_hit_blocks_total", 4);
      assertSample(page, "orbitkv_missed_blocks_total", 5);
      assertSample(page, "orbitkv_leases_open", 1);
      assertSample(page, "orbitkv_operation_seconds_count{op=\"query\"}", 2);
      assertSample(page, "orbitkv_evicted_blocks_total{cause=\"capacity\"}", 0);
      assertWellFormed(page);
    }
  }

  @Test
  void shouldListAndEvictAndCleanUp() throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
      QueryResult ready = engine.client.query(Engine.query("q", Engine.keys(1, 2)));
      assertTrue(ready instanceof QueryResult.Ready, ready.toString());
      assertEquals("engine-a", first("/instances", "instances").path("instance").asText());
      assertEquals("LOAD", first("/sessions", "sessions").path("role").asText());
      assertEquals(2, first("/leases", "leases").path("blocks").asInt());
      JsonNode blocks = json(get("/blocks?namespace=ns&limit=3"), 200);
      assertEquals(3, blocks.path("blocks").size());
      assertTrue(blocks.path("more").asBoolean());
      JsonNode evicted = json(post("/cache/evict", "{\"namespace\": \"ns\"}"), 200);
      assertEquals(4, evicted.path("blocks").asInt());
      assertTrue(evicted.path("retainedBytes").asLong() > 0);
      JsonNode cleaned = json(post("/instances/cleanup?instance=engine-a", ""), 200);
      assertEquals(1, cleaned.path("sessionsClosed").asInt());
      assertEquals(1, cleaned.path("leasesReleased").asInt());
      assertEquals(0, json(get("/sessions"), 200).path("sessions").size());
    }
  }

  @Test
  void shouldNameNamespacesAndRefuseThoseThatAreNotThere() throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
    }
    JsonNode bound = first("/namespaces", "namespaces");
    assertEquals("ns", bound.path("namespace").asText());
    assertEquals(4, bound.path("blocks").asInt());
    for (HttpResponse<String> answer :
        List.of(get("/blocks?namespace=nss"), post("/cache/evict", "{\"namespace\": \"nss\"}"))) {
      JsonNode error = json(answer, 404).path("error");
      assertEquals("NO_SUCH_NAMESPACE", error.path("code").asText());
      assertTrue(error.path("remedy").asText().contains("did you mean ns?"), error.toString());
    }
    assertEquals(4, first("/namespaces", "namespaces").path("blocks").asInt());
  }

  @Test
  void shouldAnswerWhatIsWrongWithARemedy() throws Exception {
    assertError(get("/nothing"), 404, "NOT_FOUND");
    assertError(post("/health", ""), 405, "METHOD_NOT_ALLOWED");
    assertError(get("/cache/evict"), 405, "METHOD_NOT_ALLOWED");
    assertError(get("/health?verbose=1"), 400, "UNKNOWN_PARAMETER");
    assertError(get("/blocks"), 400, "MISSING_PARAMETER");
    assertError(get("/leases?limit=0"), 400, "BAD_PARAMETER");
    assertError(post("/cache/evict", "[]"), 400, "BAD_JSON");
    assertError(post("/cache/evict", "{"), 400, "BAD_JSON");
    assertError(post("/cache/evict", "{\"everything\": true}"), 400, "UNKNOWN_FIELD");
    assertError(post("/cache/evict", "{\"all\": false}"), 400, "BAD_FIELD");
    assertError(
        post("/cache/evict", "{\"namespace\": \"ns\", \"groupId\": 0, \"keys\": [\"0g\"]}"),
        400,
        "BAD_FIELD");
    assertError(get("/blocks?namespace=a&namespace=b"), 400, "BAD_PARAMETER");
    assertError(post("/instances/cleanup?instance=nobody", ""), 404, "NO_SUCH_INSTANCE");
    assertError(fromABrowser("/cache/evict"), 403, "FROM_A_BROWSER");
    assertError(post("/cache/evict", " ".repeat((1 << 20) + 1)), 413, "TOO_LARGE");
  }

  @Test
  void shouldEvictNothingForABodyThatIsNotExactlyWhatItShouldBe() throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
    }
    for (String body :
        List.of(
            "{\"all\": \"true\"}",
            "{\"all\": 1}",
            "{\"namespace\": \"ns\", \"groupId\": 1}",
            "{\"namespace\": \"ns\", \"groupId\": \"1\", \"keys\": [\"aa\"]}",
            "{\"namespace\": \"ns\", \"groupId\": 4294967296, \"keys\": [\"aa\"]}",
            "{\"namespace\": \"ns\", \"groupId\": -1, \"keys\": [\"aa\"]}",
            "{\"namespace\": \"ns\", \"groupId\": 0, \"keys\": [12]}",
            "{\"namespace\": \"ns\", \"groupId\": 0, \"keys\": null}",
            "{\"namespace\": 1}")) {
      assertError(post("/cache/evict", body), 400, "BAD_FIELD");
    }
    assertError(
        post("/cache/evict", "{\"namespace\": \"ns\", \"keys\": [\"aa\"]}"), 400, "MISSING_FIELD");
    for (String body :
        List.of("{\"all\": false, \"all\": true}", "{\"all\": true} x", "{\"all\"")) {
      HttpResponse<String> answer = post("/cache/evict", body);
      assertError(answer, 400, "BAD_JSON");
      assertFalse(answer.body().contains("REDACTED"), answer.body());
    }
    assertTrue(run(2, "evict", "--namespace", "ns", "--group", "1").contains("--key"));
    assertTrue(run(2, "evict", "--all", "--group", "0").contains("--key"));
    assertEquals(4, first("/namespaces", "namespaces").path("blocks").asInt());
  }

  @Test
  void shouldSayThatADaemonIsSilentWhenItTakesConnectionsOnly() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      String told = run(1, "status", "--http-addr", "127.0.0.1:" + silent.getLocalPort());
      assertTrue(told.contains("no answer from 127.0.0.1:"), told);
      assertFalse(told.contains("start one with"), told);
    }
  }

  @Test
  void shouldTellHealthWhileManyConnectionsSendHalfARequest() throws Exception {
    List<Socket> halves = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        Socket half = new Socket(InetAddress.getLoopbackAddress(), raw("/").getPort());
        halves.add(half);
        half.getOutputStream().write("POST /cache/evict HTTP/1.1\r\nHost: x\r\n".getBytes(UTF_8));
      }
      json(get("/health"), 200);
    } finally {
      for (Socket half : halves) {
        half.close();
      }
    }
  }

  @Test
  void shouldTellHealthAtOnceWhileTheLoopIsBusy() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    assertTrue(
        running
            .daemon()
            .endpoint()
            .commands()
            .offer(new Command.Inspect(new Inspection.Status(), _ -> await(go))));
    try {
      Thread.sleep(2_200);
      long start = System.nanoTime();
      HttpResponse<String> health = get("/health");
      long millis = (System.nanoTime() - start) / 1_000_000;
      JsonNode body = json(health, 503);
      assertEquals("DEGRADED", body.path("status").asText());
      assertTrue(body.path("problems").get(0).asText().contains("the loop"), body.toString());
      assertTrue(millis < 1_000, millis + " ms");
    } finally {
      go.countDown();
    }
  }

  @Test
  void shouldServeTheCommandLine() throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      engine.client.publish(Engine.publish("r", Engine.keys(1, 4), 0));
      assertTrue(run(0, "status").contains("4 sealed"));
      assertTrue(run(0, "instances").contains("engine-a"));
      assertTrue(run(0, "namespaces").contains("ns"));
      assertTrue(run(0, "sessions").contains("LOAD"));
      assertTrue(run(0, "leases").startsWith("LEASE"));
      assertTrue(run(0, "blocks", "--namespace", "ns").contains("SEALED"));
      assertEquals(4, JSON.readTree(run(0, "evict", "--all", "--json")).path("blocks").asInt());
      run(2, "evict");
    }
    assertTrue(run(1, "blocks", "--namespace", "n").contains("no namespace is called n"));
    assertTrue(run(1, "evict", "--namespace", "other").contains("orbitkv namespaces lists them"));
    String gone = run(1, "status", "--http-addr", "127.0.0.1:1");
    assertTrue(gone.contains("orbitkv manager"), gone);
    for (String wrong : List.of("http://x/", "localhost", "127.0.0.1:9091/", ":9091")) {
      String told = run(2, "status", "--http-addr", wrong);
      assertTrue(told.contains("is not HOST:PORT"), told);
    }
  }

  private String run(int exitCode, String... arguments) {
    StringWriter text = new StringWriter();
    CommandLine root =
        Main.commandLine().setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
    String[] all = arguments;
    if (!List.of(arguments).contains("--http-addr")) {
      all = Arrays.copyOf(arguments, arguments.length + 2);
      all[arguments.length] = "--http-addr";
      all[arguments.length + 1] = address;
    }
    assertEquals(exitCode, root.execute(all), text::toString);
    return text.toString();
  }

  private static void await(CountDownLatch latch) {
    try {
      if (!latch.await(10, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody let the loop go on");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private JsonNode first(String path, String list) throws Exception {
    return json(get(path), 200).path(list).get(0);
  }

  private static JsonNode json(HttpResponse<String> response, int status) throws IOException {
    assertEquals(status, response.statusCode(), response.body());
    return JSON.readTree(response.body());
  }

  private static void assertError(HttpResponse<String> response, int status, String code)
      throws IOException {
    JsonNode error = json(response, status).path("error");
    assertEquals(code, error.path("code").asText());
    assertTrue(!error.path("message").asText().isEmpty());
    assertTrue(!error.path("remedy").asText().isEmpty(), response.body());
  }

  private static void assertSample(String page, String name, long value) {
    assertTrue(page.contains("\n" + name + " " + value + "\n"), name + " " + value + "\n" + page);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        java.net.http.HttpRequest.newBuilder(raw(path)).timeout(Duration.ofSeconds(10)).build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return http.send(
        java.net.http.HttpRequest.newBuilder(raw(path))
            .POST(BodyPublishers.ofString(body))
            .timeout(Duration.ofSeconds(10))
            .build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> fromABrowser(String path) throws IOException, InterruptedException {
    return http.send(
        java.net.http.HttpRequest.newBuilder(raw(path))
            .POST(BodyPublishers.ofString("{\"all\": true}"))
            .header("Origin", "http://example.org")
            .timeout(Duration.ofSeconds(10))
            .build(),
        BodyHandlers.ofString());
  }

  private URI raw(String path) {
    return URI.create("http://" + address + path);
  }

  /** Each family once, with HELP and TYPE before its samples; plain numbers. */
  private static void assertWellFormed(String page) {
    assertTrue(page.endsWith("\n"));
    Set<String> families = new HashSet<>();
    String family = "";
    String type = "";
    for (String line : page.lines().toList()) {
      String[] words = line.split(" ", 4);
      if (line.startsWith("# HELP ")) {
        family = words[2];
        assertTrue(families.add(family), line);
        assertTrue(words[3].matches("[A-Z1].*[^ ]\\."), "a sentence: " + line);
      } else if (line.startsWith("# TYPE ")) {
        type = words[3];
        assertEquals(family, words[2]);
        assertEquals(type.equals("counter"), family.endsWith("_total"), line);
      } else {
        String suffix = type.equals("histogram") ? "_(bucket|sum|count)" : "";
        String labels = "(\\{[a-z]+=\"[^\"]*\"(,le=\"([0-9.]+|\\+Inf)\")?\\})?";
        assertTrue(line.matches(family + suffix + labels + " [0-9]+(\\.[0-9]+)?"), line);
      }
    }
    assertTrue(families.size() > 50, families.toString());
  }
}
