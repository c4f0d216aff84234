package io.orbitkv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.contract.Contract;
import io.orbitkv.client.contract.ContractEngine;
import io.orbitkv.client.fake.FakeManagerProcess;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.RefusalCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rings between two processes: many threads of a client, wrap-around, a killed Manager. */
class TwoProcessesTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 150;

  @TempDir Path folder;

  @Test
  @Timeout(60)
  void shouldServeManyThreadsAcrossWrapsAndAKill() throws IOException, InterruptedException {
    String path = folder.resolve("m.sock").toString();
    try (FakeManagerProcess manager = new FakeManagerProcess(path);
        ContractEngine engine = ContractEngine.simple(Contract.fresh("processes"));
        OrbitClient client = engine.connect(manager)) {
      useFromManyThreads(engine, client, 0);
      assertEquals(0, client.outstanding());

      KeyRun keys = ContractEngine.keys(1, 1);
      Lease old = Contract.ready(client.query(ContractEngine.query("q", keys))).lease();
      manager.kill();
      Contract.eventually("the loss is seen", () -> client.disconnected().isPresent());
      Contract.assertRefused(RefusalCode.DISCONNECTED, client.ping());
      manager.start();
      assertTrue(client.awaitConnected(5000));
      Contract.assertRefused(RefusalCode.EPOCH, client.release(old));
      useFromManyThreads(engine, client, 100);
    }
  }

  private static void useFromManyThreads(ContractEngine engine, OrbitClient client, long seed)
      throws InterruptedException {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int block = t;
      Runnable work =
          () -> {
            try {
              use(engine, client, seed + block, block);
            } catch (RuntimeException | AssertionError failed) {
              failures.add(failed);
            }
          };
      threads.add(Thread.ofPlatform().start(work));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), List.copyOf(failures));
  }

  private static void use(ContractEngine engine, OrbitClient client, long seed, int block) {
    KeyRun keys = ContractEngine.keys(seed, 1);
    engine.fill(0, block, seed);
    assertInstanceOf(
        PublishResult.Published.class, client.publish(ContractEngine.publish(0, keys, block)));
    for (int i = 0; i < ROUNDS; i++) {
      assertInstanceOf(Answer.Ok.class, client.ping());
      QueryResult.Ready ready =
          Contract.ready(client.query(ContractEngine.query("r" + block, keys)));
      if (i % 50 == 0) {
        int target = 16 + block;
        assertInstanceOf(
            RestoreResult.Restored.class,
            client.restore(ready.lease(), ContractEngine.restore(0, 0, target, 1)));
        assertArrayEquals(ContractEngine.bytes(seed), engine.read(0, target));
        engine.write(0, target, new byte[ContractEngine.BLOCK_BYTES]);
      }
      assertEquals(true, client.release(ready.lease()).orThrow());
    }
  }
}
