package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.manager.Engine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Managers in processes of their own that find each other through an etcd. */
class ClusterProcessTest {
  private static final int BLOCKS = 8;

  @TempDir private Path folder;
  private EtcdServer etcd;
  private final List<TestHost> hosts = new ArrayList<>();

  @BeforeEach
  void startEtcd() throws Exception {
    assumeTrue(EtcdServer.isInstalled(), "no etcd on the PATH");
    etcd = new EtcdServer(folder);
  }

  @AfterEach
  void stopAll() {
    hosts.forEach(TestHost::close);
    if (etcd != null) {
      etcd.close();
    }
  }

  @Test
  void shouldFindOnOneHostWhatWasPublishedOnAnother() throws Exception {
    TestHost a = start("a", TestHost.TOKEN, "--replication-factor", "2");
    TestHost b = start("b", TestHost.TOKEN, "--replication-factor", "2");
    TestHost c = start("c", TestHost.TOKEN, "--replication-factor", "2");
    for (TestHost each : hosts) {
      each.awaitCluster(3);
    }
    KeyRun keys = Engine.keys(1, BLOCKS);
    try (Engine engine = new Engine(a.clientOptions(), "engine")) {
      publish(engine, keys);
      for (TestHost each : List.of(b, c)) {
        JsonNode found = each.await(find(keys, 0), answer -> !answer.path("candidates").isEmpty());
        assertEquals("a", found.path("candidates").get(0).path("node").asText());
        assertEquals("DRAM", found.path("candidates").get(0).path("tier").asText());
      }
      assertTrue(a.get(find(keys, 0)).path("candidates").isEmpty(), "a asks others only");
    }
    assertEquals(0, a.process.terminate(20), "a leaves in order");
    b.await("/cluster/members", members -> members.path("members").size() == 2);
    b.await(find(keys, BLOCKS - 1), answer -> answer.path("candidates").isEmpty());
    a.start();
    a.awaitCluster(3);
    JsonNode again = b.await("/cluster/members", members -> members.path("members").size() == 3);
    assertEquals(2, again.path("members").get(0).path("epoch").asInt(), "a was started twice");
    assertTrue(
        b.get(find(keys, 0)).path("candidates").isEmpty(), "what a had died with its memory");
  }

  @Test
  void shouldRefuseAHostWithAnotherToken() throws Exception {
    TestHost a = start("a", TestHost.TOKEN, "--replication-factor", "1");
    a.awaitCluster(1);
    TestHost stranger = start("b", "another-token-of-somebody-else", "--replication-factor", "1");
    JsonNode streams =
        stranger.await(
            "/cluster/streams",
            answer ->
                answer.path("sent").size() > 0
                    && answer.path("sent").get(0).path("lastProblem").asText().length() > 0);
    assertTrue(
        streams.path("sent").get(0).path("lastProblem").asText().contains("UNAUTHENTICATED"),
        streams.toPrettyString());
    assertEquals(0, a.get("/cluster/streams").path("received").findValues("b").size());
    for (JsonNode row : a.get("/cluster/streams").path("received")) {
      assertEquals("a", row.path("owner").asText(), "a takes nothing from a stranger");
    }
  }

  @Test
  void shouldServeItsEnginesWhileEtcdIsAwayAndRecoverByItself() throws Exception {
    TestHost a = start("a", TestHost.TOKEN, "--replication-factor", "1");
    TestHost b = start("b", TestHost.TOKEN, "--replication-factor", "1");
    a.awaitCluster(2);
    b.awaitCluster(2);
    etcd.kill();
    for (TestHost each : hosts) {
      each.await(
          "/cluster/members",
          members -> members.path("admission").path("state").asText().equals("FENCED"));
    }
    KeyRun keys = Engine.keys(2, BLOCKS);
    try (Engine engine = new Engine(a.clientOptions(), "engine")) {
      publish(engine, keys);
      assertEquals("DEGRADED", a.get("/health").path("status").asText());
      etcd.restart();
      for (TestHost each : hosts) {
        each.await(
            "/cluster/members",
            members ->
                members.path("admission").path("state").asText().equals("OPEN")
                    && members.path("members").size() == 2);
      }
      b.await(find(keys, 0), answer -> !answer.path("candidates").isEmpty());
      assertEquals("SERVING", a.get("/health").path("status").asText());
    }
  }

  private TestHost start(String node, String token, String... more) throws IOException {
    TestHost host = new TestHost(folder, node, etcd.uri(), token, more);
    hosts.add(host);
    return host.start();
  }

  private static void publish(Engine engine, KeyRun keys) {
    for (int block = 0; block < keys.count(); block++) {
      engine.fill(block, 100 + block);
    }
    assertInstanceOf(
        PublishResult.Published.class, engine.client.publish(Engine.publish("publish", keys, 0)));
  }

  private static String find(KeyRun keys, int at) {
    return "/catalog/find?namespace=ns&group=0&key=" + HexFormat.of().formatHex(keys.key(at));
  }
}
