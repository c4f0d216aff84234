package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The catalog's placements on Managers in processes of their own. */
class CatalogProcessTest {
  private static final int BLOCKS = 32;
  private static final List<String> NAMES = List.of("a", "b", "c", "d");

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
  void shouldMoveCatalogShardsAwayFromAHostWhileLookupsGoOn() throws Exception {
    for (String name : NAMES) {
      hosts.add(
          new TestHost(folder, name, etcd.uri(), TestHost.TOKEN, "--auto-handoff-after", "off"));
    }
    for (TestHost host : hosts.subList(0, 3)) {
      host.process.launch();
    }
    for (TestHost host : hosts.subList(0, 3)) {
      host.awaitServing();
      host.awaitCluster(3);
    }
    awaitLeaders(hosts.getFirst());
    hosts.get(3).start();
    for (TestHost host : hosts) {
      host.awaitCluster(4);
    }
    KeyRun keys = Engine.keys(1, BLOCKS);
    try (Engine engine = new Engine(hosts.get(1).clientOptions(), "engine")) {
      assertInstanceOf(
          PublishResult.Published.class, engine.client.publish(Engine.publish("p", keys, 0)));
      TestHost asking = hosts.get(3);
      for (int at = 0; at < BLOCKS; at++) {
        asking.await(find(keys, at), answer -> !answer.path("candidates").isEmpty());
      }
      JsonNode orders = hosts.get(2).post("/catalog/drain?node=a").path("orders");
      assertEquals(16, orders.size(), orders.toPrettyString());
      for (JsonNode order : orders) {
        assertTrue(order.path("taken").asBoolean(), order.toPrettyString());
      }
      int lookups = 0;
      long deadline = System.nanoTime() + 2 * TestHost.PATIENCE.toNanos();
      while (!moved(asking)) {
        assertTrue(System.nanoTime() < deadline, () -> "handoffs end: " + placements(asking));
        for (int at = 0; at < BLOCKS; at++, lookups++) {
          JsonNode found = asking.get(find(keys, at));
          assertEquals(1, found.path("candidates").size(), found.toPrettyString());
        }
      }
      System.out.println(lookups + " lookups while 16 catalog shards moved");
      for (JsonNode placement : asking.get("/catalog/placement").path("placements")) {
        assertEquals(2, placement.path("generation").asInt());
        Set<String> members = new TreeSet<>();
        placement.path("members").forEach(member -> members.add(member.asText()));
        assertEquals(Set.of("b", "c", "d"), members);
      }
      hosts.getFirst().process.kill();
      for (int at = 0; at < BLOCKS; at++) {
        assertFalse(asking.get(find(keys, at)).path("candidates").isEmpty(), "a is not needed");
      }
    }
  }

  private static boolean moved(TestHost host) throws Exception {
    for (JsonNode placement : host.get("/catalog/placement").path("placements")) {
      if (placement.path("generation").asInt() < 2 || placement.has("step")) {
        return false;
      }
    }
    return true;
  }

  private static String placements(TestHost host) {
    try {
      return host.get("/catalog/placement").toPrettyString();
    } catch (IOException gone) {
      return gone.toString();
    }
  }

  /** Waits until every catalog shard has a leader and is founded. */
  private static void awaitLeaders(TestHost host) throws Exception {
    host.await(
        "/catalog/placement",
        answer -> {
          for (JsonNode placement : answer.path("placements")) {
            if (placement.path("leader").asText().isEmpty()
                || placement.path("applied").asLong() < 1) {
              return false;
            }
          }
          return answer.path("placements").size() == 16;
        });
  }

  private static String find(KeyRun keys, int at) {
    return "/catalog/find?namespace=ns&group=0&key=" + HexFormat.of().formatHex(keys.key(at));
  }
}
