package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.ControlClient;
import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.control.Cleaned;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.Status;
import io.orbitkv.client.wire.Submission;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contracts about connecting, the channel, roles, and how sessions end. */
public interface SessionContract extends Contract {
  @Test
  default void helloTellsEpochAndLimits() {
    try (ControlClient control = control()) {
      HelloOk hello = control.hello();
      assertEquals(1, hello.version());
      assertTrue(hello.epoch() >= 1);
      assertTrue(hello.limits().maxKeysPerRequest() > 0);
      assertTrue(hello.limits().leaseMillis() > 0);
      assertEquals(hello.epoch(), control.health().orThrow().epoch());
    }
  }

  @Test
  default void registerGivesAChannel() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("channel"));
        OrbitClient client = engine.connect(manager())) {
      Registered registered = client.registered().orElseThrow();
      assertNull(registered.channel().problem());
      assertEquals(ChannelGeometry.STANDARD, registered.channel());
      assertInstanceOf(Answer.Ok.class, client.ping());
    }
  }

  @Test
  default void pingAnswersInOrder() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("ping"));
        OrbitClient client = engine.connect(manager())) {
      long last = 0;
      for (int i = 0; i < 1000; i++) {
        long now = client.ping().orThrow();
        assertTrue(now >= last, "the clock goes on");
        last = now;
      }
      assertEquals(0, client.outstanding());
    }
  }

  @Test
  default void ringWrapsAround() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("wrap"));
        RawSession raw = new RawSession(manager());
        RawSession.Channel channel =
            raw.register(engine.register(), List.of(engine.buffer().descriptor()))) {
      int entries = channel.registered().channel().entries();
      int total = 3 * entries + 7;
      Submission submission = new Submission();
      Completion completion = new Completion();
      int sent = 0;
      for (int received = 0; received < total; received++) {
        while (sent < total && sent - received < entries && channel.hasRoom()) {
          submission.set(
              Op.PING.code(),
              0,
              ChannelLayout.NO_SLOT,
              0,
              channel.nextId(),
              channel.registered().epoch(),
              channel.registered().sessionId(),
              0,
              0,
              0);
          channel.submit(submission);
          sent++;
        }
        channel.take(completion);
        assertEquals(received + 1, completion.requestId());
        assertEquals(Status.OK, completion.status());
      }
    }
  }

  @Test
  default void leaseOfAnotherSessionOfTheInstanceWorks() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("scheduler"));
        OrbitClient worker = engine.connect(manager());
        OrbitClient scheduler = engine.connectQuery(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 2);
      engine.fill(0, 0, 1);
      engine.fill(0, 1, 2);
      assertInstanceOf(
          PublishResult.Published.class, worker.publish(ContractEngine.publish(0, keys, 0)));
      Lease lease = Contract.ready(scheduler.query(ContractEngine.query("q", keys))).lease();
      assertInstanceOf(
          RestoreResult.Restored.class, worker.restore(lease, ContractEngine.restore(0, 0, 8, 2)));
      assertArrayEquals(ContractEngine.bytes(2), engine.read(0, 9));
      assertEquals(true, worker.release(lease).orThrow());
      assertEquals(false, scheduler.release(lease).orThrow());
    }
  }

  @Test
  default void saveSessionPublishes() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("save"))) {
      try (OrbitClient client = engine.connect(manager())) {
        OrbitClient save = client.openSaveSession().orThrow();
        KeyRun keys = ContractEngine.keys(Contract.seed(), 1);
        engine.fill(0, 3, 7);
        PublishResult.Published published =
            assertInstanceOf(
                PublishResult.Published.class, save.publish(ContractEngine.publish(0, keys, 3)));
        assertEquals(1, published.reply().count(BlockOutcome.STORED));
        Lease lease = Contract.ready(client.query(ContractEngine.query("q", keys))).lease();
        assertInstanceOf(
            RestoreResult.Restored.class,
            client.restore(lease, ContractEngine.restore(0, 0, 4, 1)));
        assertArrayEquals(ContractEngine.bytes(7), engine.read(0, 4));
        assertEquals(2, sessionsOf(engine.name()).size());
      }
      Contract.eventually("both sessions end", () -> sessionsOf(engine.name()).isEmpty());
    }
  }

  @Test
  default void schedulerHasNoBuffers() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("nobuffers"));
        OrbitClient scheduler = engine.connectQuery(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 1);
      Contract.assertRefused(
          RefusalCode.NO_BUFFERS, scheduler.publish(ContractEngine.publish(0, keys, 0)));
    }
  }

  @Test
  default void namespacesAreApart() throws IOException {
    try (ContractEngine one = ContractEngine.simple(Contract.fresh("apart"));
        ContractEngine two = ContractEngine.simple(Contract.fresh("apart"));
        OrbitClient first = one.connect(manager());
        OrbitClient second = two.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 2);
      var _ = first.publish(ContractEngine.publish(0, keys, 0));
      var _ = Contract.ready(first.query(ContractEngine.query("q", keys)));
      assertInstanceOf(QueryResult.Miss.class, second.query(ContractEngine.query("q", keys)));
    }
  }

  @Test
  default void newerSessionSupersedes() throws IOException, InterruptedException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("supersede"));
        OrbitClient older = engine.connect(manager())) {
      long olderId = older.registered().orElseThrow().sessionId();
      try (OrbitClient newer = engine.connect(manager());
          ControlClient control = control()) {
        assertEquals(olderId, newer.registered().orElseThrow().supersededSessionId());
        Contract.eventually("the older ends", () -> older.disconnected().isPresent());
        Contract.assertRefused(RefusalCode.SESSION_SUPERSEDED, older.ping());
        Contract.assertRefused(RefusalCode.SESSION_SUPERSEDED, older.cleanup());
        Contract.assertRefused(
            RefusalCode.SESSION_SUPERSEDED, control.cleanup(engine.name(), olderId));
        assertFalse(older.awaitConnected(200), "it does not come back");
        assertInstanceOf(Answer.Ok.class, newer.ping());
      }
    }
  }

  @Test
  default void unregisterGivesEverythingBack() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("unregister"))) {
      OrbitClient client = engine.connect(manager());
      KeyRun keys = ContractEngine.keys(Contract.seed(), 4);
      var _ = client.publish(ContractEngine.publish(0, keys, 0));
      var _ = Contract.ready(client.query(ContractEngine.query("q", keys)));
      assertEquals(1, sessionsOf(engine.name()).getFirst().leases());
      client.close();
      assertEquals(List.of(), sessionsOf(engine.name()));
      try (OrbitClient again = engine.connect(manager())) {
        assertEquals(0, sessionsOf(engine.name()).getFirst().leases());
        assertInstanceOf(Answer.Ok.class, again.ping());
      }
    }
  }

  @Test
  default void cleanupEndsAllSessionsOfTheInstance() throws IOException, InterruptedException {
    String name = Contract.fresh("cleanup");
    KeyRun keys = ContractEngine.keys(Contract.seed(), 2);
    try (ContractEngine engine = ContractEngine.simple(name)) {
      try (OrbitClient worker = engine.connect(manager());
          OrbitClient scheduler = engine.connectQuery(manager())) {
        var _ = worker.publish(ContractEngine.publish(0, keys, 0));
        var _ = Contract.ready(scheduler.query(ContractEngine.query("q", keys)));
        Cleaned cleaned = worker.cleanup().orThrow();
        assertEquals(new Cleaned(name, 2, 1, 0), cleaned);
        Contract.eventually(
            "both end",
            () -> worker.disconnected().isPresent() && scheduler.disconnected().isPresent());
        assertEquals(List.of(), sessionsOf(name));
      }
      try (OrbitClient again = engine.connect(manager())) {
        var _ = Contract.ready(again.query(ContractEngine.query("q", keys)));
      }
      try (ControlClient control = control()) {
        assertEquals(new Cleaned("nobody", 0, 0, 0), control.cleanup("nobody").orThrow());
      }
    }
  }

  @Test
  default void reconnectsAfterARestart() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("restart"));
        OrbitClient client = engine.connect(manager())) {
      OrbitClient save = client.openSaveSession().orThrow();
      KeyRun keys = ContractEngine.keys(Contract.seed(), 2);
      var _ = client.publish(ContractEngine.publish(0, keys, 0));
      Lease old = Contract.ready(client.query(ContractEngine.query("q", keys))).lease();
      long epoch = client.registered().orElseThrow().epoch();
      manager().kill();
      manager().start();
      long deadline = System.nanoTime() + 3_000_000_000L;
      while (!(client.awaitConnected(1000)
          && client.registered().map(Registered::epoch).orElse(epoch) > epoch)) {
        assertTrue(System.nanoTime() < deadline, "it reconnects in time");
      }
      Contract.assertRefused(RefusalCode.EPOCH, client.release(old));
      Contract.assertRefused(
          RefusalCode.EPOCH,
          client.restoreAsync(old, ContractEngine.restore(0, 0, 4, 2), false, false));
      var _ = client.publish(ContractEngine.publish(0, keys, 0));
      var _ = Contract.ready(client.query(ContractEngine.query("q", keys)));
      assertTrue(save.awaitConnected(3000), "the save session comes back too");
    }
  }

  /** A connection for operators. */
  default ControlClient control() {
    return ControlClient.connect(ClientOptions.of(manager().socketPath())).orThrow();
  }

  /** The live sessions of an instance. */
  default List<Sessions.Session> sessionsOf(String instance) {
    try (ControlClient control = control()) {
      return control.sessions().orThrow().sessions().stream()
          .filter(session -> session.instance().equals(instance))
          .toList();
    }
  }
}
