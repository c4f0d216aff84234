package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryAnswer.GroupRange;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contracts about what a query finds. */
public interface QueryContract extends Contract {
  @Test
  default void queryOfUnknownKeysMisses() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("miss"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 4);
      QueryResult.Miss miss =
          assertInstanceOf(
              QueryResult.Miss.class, client.query(ContractEngine.query("q", 128, 0, keys)));
      assertEquals(128, miss.answer().boundaryToken());
      assertEquals(0, miss.answer().leaseId());
      assertEquals(0, miss.answer().groups().getFirst().hitBlocks());
      assertEquals(0, miss.reasonCode());
    }
  }

  @Test
  default void publishThenQueryIsReady() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("ready"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 8);
      PublishResult.Published published = publish(client, 0, keys, 0);
      assertEquals(8, published.reply().count(BlockOutcome.STORED));
      assertEquals(8L * ContractEngine.BLOCK_BYTES, published.storedBytes());
      QueryAnswer answer =
          Contract.ready(client.query(ContractEngine.query("q", 64, 0, keys))).answer();
      assertEquals(64 + 8 * 64, answer.boundaryToken());
      assertEquals(List.of(new GroupRange(0, 64, 576, 8)), answer.groups());
      assertTrue(answer.leaseId() > 0 && answer.leaseMillis() > 0);
      assertEquals(IntRun.of(128, 192, 256, 320, 384, 448, 512, 576), answer.boundaries());
    }
  }

  @Test
  default void publishTwiceIsAlready() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("twice"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 8);
      var _ = publish(client, 0, keys, 0);
      PublishResult.Published again = publish(client, 0, keys, 8);
      assertEquals(8, again.reply().count(BlockOutcome.ALREADY));
      assertEquals(0, again.reply().count(BlockOutcome.STORED));
      assertEquals(0, again.storedBytes());
    }
  }

  @Test
  default void partialPrefixGivesItsBoundary() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("partial"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 8);
      var _ = publish(client, 0, keys.slice(0, 2), 0);
      var _ = publish(client, 0, keys.slice(3, 2), 3);
      QueryResult.Ready hole = Contract.ready(client.query(ContractEngine.query("q", keys)));
      assertEquals(128, hole.answer().boundaryToken());
      int hits = hole.answer().groups().getFirst().hitBlocks();
      assertTrue(hits >= 2 && hits <= 4, hits + " hits");
      var _ = publish(client, 0, keys.slice(2, 1), 2);
      QueryResult.Ready five = Contract.ready(client.query(ContractEngine.query("q", keys)));
      assertEquals(320, five.answer().boundaryToken());
    }
  }

  @Test
  default void limitTokenCapsTheBoundary() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("limit"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 8);
      var _ = publish(client, 0, keys, 0);
      for (int limit : new int[] {256, 300, 319}) {
        QueryAnswer answer =
            Contract.ready(client.query(ContractEngine.query("q", 0, limit, keys))).answer();
        assertEquals(256, answer.boundaryToken());
        assertEquals(IntRun.of(64, 128, 192, 256), answer.boundaries());
      }
    }
  }

  @Test
  default void discoverTakesNoLease() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("discover"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 3);
      var _ = publish(client, 0, keys, 0);
      QueryResult.Discovered found =
          assertInstanceOf(
              QueryResult.Discovered.class, client.discover(ContractEngine.query("q", keys)));
      assertEquals(IntRun.of(64, 128, 192), found.answer().boundaries());
      assertEquals(0, found.answer().leaseMillis());
      boolean held =
          client.sessions().orThrow().sessions().stream()
              .anyMatch(s -> s.instance().equals(engine.name()) && s.leases() > 0);
      assertEquals(false, held);
    }
  }

  @Test
  default void windowAndPrefixRanges() throws IOException {
    try (ContractEngine engine =
            ContractEngine.of(
                Contract.fresh("window"),
                List.of(ContractEngine.group(0, Rule.PREFIX), ContractEngine.group(1, Rule.WINDOW)),
                0,
                1);
        OrbitClient client = engine.connect(manager())) {
      KeyRun full = ContractEngine.keys(Contract.seed(), 6);
      KeyRun window = ContractEngine.keys(Contract.seed(), 6);
      var _ = publish(client, 0, full, 0);
      var _ = publish(client, 1, window, 0);
      QueryAnswer answer =
          Contract.ready(client.query(ContractEngine.query("q", 128, 0, full, window))).answer();
      assertEquals(512, answer.boundaryToken());
      assertEquals(
          List.of(new GroupRange(0, 128, 512, 6), new GroupRange(1, 384, 512, 6)), answer.groups());
      QueryAnswer first =
          Contract.ready(client.query(ContractEngine.query("q", 128, 192, full, window))).answer();
      for (GroupRange range : first.groups()) {
        assertEquals(128, range.fromToken());
        assertEquals(192, range.toToken());
        assertTrue(range.hitBlocks() >= 1 && range.hitBlocks() <= 6, range.toString());
      }
    }
  }

  @Test
  default void checkpointNeedsItsPage() throws IOException {
    try (ContractEngine engine =
            ContractEngine.of(
                Contract.fresh("checkpoint"),
                List.of(
                    ContractEngine.group(0, Rule.PREFIX), ContractEngine.group(1, Rule.CHECKPOINT)),
                0,
                1);
        OrbitClient client = engine.connect(manager())) {
      KeyRun full = ContractEngine.keys(Contract.seed(), 8);
      KeyRun marks = ContractEngine.keys(Contract.seed(), 8);
      var _ = publish(client, 0, full, 0);
      var _ = publish(client, 1, marks.slice(2, 1), 0);
      var _ = publish(client, 1, marks.slice(5, 1), 1);
      QueryResult.Discovered all =
          assertInstanceOf(
              QueryResult.Discovered.class,
              client.discover(ContractEngine.query("q", 0, 0, full, marks)));
      assertEquals(IntRun.of(192, 384), all.answer().boundaries());
      QueryAnswer answer =
          Contract.ready(client.query(ContractEngine.query("q", 0, 0, full, marks))).answer();
      assertEquals(
          List.of(new GroupRange(0, 0, 384, 8), new GroupRange(1, 320, 384, 2)), answer.groups());
      assertEquals(IntRun.of(384), answer.boundaries(), "192 needs a page that is not leased");
    }
  }

  @Test
  default void releaseIsIdempotent() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("release"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 1);
      var _ = publish(client, 0, keys, 0);
      Lease lease = Contract.ready(client.query(ContractEngine.query("q", keys))).lease();
      assertEquals(true, client.release(lease).orThrow());
      assertEquals(false, client.release(lease).orThrow());
    }
  }

  /** A publish that succeeds. */
  static PublishResult.Published publish(
      OrbitClient client, int groupId, KeyRun keys, int firstBlock) {
    return assertInstanceOf(
        PublishResult.Published.class,
        client.publish(ContractEngine.publish(groupId, keys, firstBlock)));
  }
}
