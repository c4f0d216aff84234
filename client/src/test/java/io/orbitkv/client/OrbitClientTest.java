package io.orbitkv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.contract.Contract;
import io.orbitkv.client.contract.ContractEngine;
import io.orbitkv.client.contract.ManagerUnderTest;
import io.orbitkv.client.fake.FakeManager;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.NativeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client when the Manager is slow, stopped, full or gone. */
@Timeout(20)
class OrbitClientTest implements ManagerUnderTest {
  @TempDir Path folder;
  private FakeManager manager;
  private long epoch;

  @BeforeEach
  @Override
  public void start() throws NativeException {
    manager = FakeManager.start(socketPath(), ++epoch, 30_000, 0);
  }

  @AfterEach
  @Override
  public void close() {
    manager.close();
  }

  @Override
  public void kill() {
    manager.close();
  }

  @Override
  public String socketPath() {
    return folder.resolve("m.sock").toString();
  }

  @Test
  void shouldGoOnAfterItsDeadlineAndGiveBackWhatComesLate()
      throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("late"));
        OrbitClient client = connect(engine, 100)) {
      KeyRun keys = ContractEngine.keys(1, 1);
      assertInstanceOf(
          PublishResult.Published.class, client.publish(ContractEngine.publish(0, keys, 0)));
      manager.freeze();
      long begin = System.nanoTime();
      Contract.assertRefused(
          RefusalCode.DEADLINE, client.query(ContractEngine.query("late", keys)));
      assertTrue(System.nanoTime() - begin < 5_000_000_000L);
      assertEquals(1, client.outstanding());
      manager.thaw();
      Contract.eventually("the channel answers", () -> client.ping() instanceof Answer.Ok<Long>);
      Contract.eventually("nothing is outstanding", () -> client.outstanding() == 0);
      assertEquals(0, client.sessions().orThrow().sessions().getFirst().leases());
    }
  }

  @Test
  void shouldWaitWhereTheRingIsFull() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("full"));
        OrbitClient client = connect(engine, 10_000)) {
      manager.freeze();
      AtomicInteger answered = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        Runnable ping =
            () -> {
              if (client.ping() instanceof Answer.Ok<Long>) {
                answered.incrementAndGet();
              }
            };
        threads.add(Thread.ofVirtual().start(ping));
      }
      Contract.eventually("the ring is full", () -> client.outstanding() == 256);
      assertEquals(0, answered.get());
      manager.thaw();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(300, answered.get());
      assertEquals(0, client.outstanding());
    }
  }

  @Test
  void shouldEndWhatIsOutstandingWhenTheManagerDies() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("dies"));
        OrbitClient client = connect(engine, 10_000)) {
      KeyRun keys = ContractEngine.keys(1, 1);
      manager.freeze();
      PendingPublish publish = client.publishAsync(ContractEngine.publish(0, keys, 0)).orThrow();
      manager.close();
      PublishResult result = publish.await(3000).orElseThrow();
      PublishResult.Failed failed = assertInstanceOf(PublishResult.Failed.class, result);
      assertTrue(failed.why().is(RefusalCode.SESSION_LOST), failed.toString());
      Contract.eventually("the loss is seen", () -> client.disconnected().isPresent());
      Contract.assertRefused(RefusalCode.DISCONNECTED, client.ping());
      start();
      assertTrue(client.awaitConnected(3000));
      Contract.assertRefused(RefusalCode.EPOCH, client.cancel(publish));
      assertInstanceOf(Answer.Ok.class, client.ping());
    }
  }

  @Test
  void shouldNotComeBackWhenToldNotTo() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("once"))) {
      ClientOptions options = ClientOptions.of(socketPath()).withReconnect(false);
      try (OrbitClient client = OrbitClient.connect(options, engine.registration()).orThrow()) {
        manager.close();
        Contract.eventually("the loss is seen", () -> client.disconnected().isPresent());
        start();
        assertEquals(false, client.awaitConnected(200));
      }
    }
  }

  @Test
  void shouldSayWhyThereIsNoManager() throws IOException {
    manager.close();
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("absent"))) {
      Contract.assertRefused(RefusalCode.DISCONNECTED, engine.tryConnect(this));
    }
    start();
  }

  @Test
  void shouldRefuseARequestThatFitsNoSlot() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("large"));
        OrbitClient client = connect(engine, 1000)) {
      int count = 20_000;
      KeyRun keys = KeyRun.of(new byte[64 * count], 64);
      Contract.assertRefused(
          RefusalCode.TOO_MANY_KEYS, client.query(ContractEngine.query("q", keys)));
      Contract.assertRefused(
          RefusalCode.TOO_MANY_KEYS,
          client.publishAsync(new PublishRequest(0, "p", keys, IntRun.range(0, count))));
    }
  }

  @Test
  void shouldLeaveNoDescriptorBehind() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("fds"))) {
      connect(engine, 1000).close();
      long before = descriptors();
      for (int i = 0; i < 20; i++) {
        try (OrbitClient client = connect(engine, 1000)) {
          client.ping().orThrow();
          client.openSaveSession().orThrow().ping().orThrow();
        }
      }
      Contract.eventually("descriptors are back", () -> descriptors() <= before + 1);
    }
  }

  private OrbitClient connect(ContractEngine engine, int operationMillis) {
    return OrbitClient.connect(
            ClientOptions.of(socketPath()).withOperationMillis(operationMillis),
            engine.registration())
        .orThrow();
  }

  private static long descriptors() {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
