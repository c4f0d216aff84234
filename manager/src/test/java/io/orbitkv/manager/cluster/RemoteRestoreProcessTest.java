package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.manager.Engine;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was published on one host is restored on another, byte for byte, or computed again. */
class RemoteRestoreProcessTest {
  private static final int BLOCKS = 8;
  private static final int WAIT_MILLIS = 20_000;

  @TempDir private Path folder;

  @Test
  void shouldRestoreOnOneHostWhatWasPublishedOnAnother() throws Exception {
    assumeTrue(EtcdServer.isInstalled(), "no etcd on the PATH");
    try (EtcdServer etcd = new EtcdServer(folder);
        TestHost source =
            new TestHost(folder, "a", etcd.uri(), TestHost.TOKEN, "--replication-factor", "1");
        TestHost reader =
            new TestHost(folder, "b", etcd.uri(), TestHost.TOKEN, "--replication-factor", "1")) {
      source.start();
      reader.start();
      source.awaitCluster(2);
      reader.awaitCluster(2);
      KeyRun first = Engine.keys(1, BLOCKS);
      KeyRun second = Engine.keys(2, BLOCKS);
      byte[][] published = new byte[BLOCKS][];
      try (Engine there = new Engine(source.clientOptions(), "there");
          Engine here = new Engine(reader.clientOptions(), "here")) {
        for (int block = 0; block < BLOCKS; block++) {
          there.fill(block, 100 + block);
          published[block] = there.page(block);
        }
        publish(there, "p1", first);
        publish(there, "p2", second);
        awaitFound(reader, first);
        awaitFound(reader, second);

        QueryResult.Loading loading =
            assertInstanceOf(
                QueryResult.Loading.class,
                here.client.queryWaiting(Engine.query("q1", first), WAIT_MILLIS));
        QueryResult.Ready ready =
            assertInstanceOf(
                QueryResult.Ready.class, here.client.awaitAnswer(loading.ticket(), WAIT_MILLIS));
        assertEquals(BLOCKS * Engine.PAGE_TOKENS, ready.answer().boundaryToken());
        assertInstanceOf(
            RestoreResult.Restored.class,
            here.client.restore(ready.lease(), Engine.restore("q1", BLOCKS, 32)));
        for (int block = 0; block < BLOCKS; block++) {
          assertArrayEquals(published[block], here.page(32 + block), "block " + block);
        }
        reader.await(
            "/status",
            status -> status.path("cluster").path("transfer").path("readsDone").asLong() >= 1);
        source.await(
            "/status",
            status -> status.path("cluster").path("transfer").path("grants").asInt() == 0);

        source.process.kill();
        long began = System.nanoTime();
        QueryResult gone = here.client.queryWaiting(Engine.query("q2", second), WAIT_MILLIS);
        if (gone instanceof QueryResult.Loading waits) {
          gone = here.client.awaitAnswer(waits.ticket(), WAIT_MILLIS);
        }
        assertFalse(gone instanceof QueryResult.Ready, gone.toString());
        assertTrue(
            System.nanoTime() - began < 2L * WAIT_MILLIS * 1_000_000, "it ends by its deadline");
      }
    }
  }

  private static void publish(Engine engine, String request, KeyRun keys) {
    assertInstanceOf(
        PublishResult.Published.class, engine.client.publish(Engine.publish(request, keys, 0)));
  }

  private static void awaitFound(TestHost host, KeyRun keys) throws Exception {
    for (int at = 0; at < keys.count(); at++) {
      host.await(
          "/catalog/find?namespace=ns&group=0&key=" + HexFormat.of().formatHex(keys.key(at)),
          answer -> !answer.path("candidates").isEmpty());
    }
  }
}
