package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PendingRestore;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RestoreRequest;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Contracts about bytes: what is restored is what was published, or nothing is touched. */
public interface RestoreContract extends Contract {
  @Test
  default void restoreGivesTheSameBytes() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("bytes"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = published(engine, client, 8);
      Lease lease = lease(client, keys);
      IntRun blocks = IntRun.of(31, 9, 30, 10, 29, 11, 28, 12);
      RestoreRequest request =
          new RestoreRequest("r", List.of(new RestoreRequest.GroupPages(0, 0, blocks)));
      RestoreResult.Restored restored =
          assertInstanceOf(RestoreResult.Restored.class, client.restore(lease, request));
      assertEquals(8L * ContractEngine.BLOCK_BYTES, restored.bytes());
      for (int i = 0; i < 8; i++) {
        assertArrayEquals(ContractEngine.bytes(i), engine.read(0, blocks.get(i)));
      }
      assertInstanceOf(
          RestoreResult.Restored.class,
          client.restore(lease, ContractEngine.restore(0, 3 * 64, 20, 2)),
          "part of a lease can be restored");
      assertArrayEquals(ContractEngine.bytes(4), engine.read(0, 21));
    }
  }

  @Test
  default void sourceMayChangeAfterPublish() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("source"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = published(engine, client, 4);
      for (int i = 0; i < 4; i++) {
        engine.fill(0, i, 1000 + i);
      }
      assertInstanceOf(
          RestoreResult.Restored.class,
          client.restore(lease(client, keys), ContractEngine.restore(0, 0, 0, 4)));
      assertArrayEquals(ContractEngine.bytes(3), engine.read(0, 3));
    }
  }

  @Test
  default void restoreAfterReleaseIsStale() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("gone"));
        OrbitClient client = engine.connect(manager())) {
      Lease lease = lease(client, published(engine, client, 1));
      assertEquals(true, client.release(lease).orThrow());
      Contract.assertRefused(
          RefusalCode.LEASE_GONE, client.restore(lease, ContractEngine.restore(0, 0, 8, 1)));
      assertUntouched(engine, 8);
    }
  }

  @Test
  default void restoreWithReleaseFlagEndsTheLease() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("flag"));
        OrbitClient client = engine.connect(manager())) {
      Lease lease = lease(client, published(engine, client, 1));
      PendingRestore pending =
          client.restoreAsync(lease, ContractEngine.restore(0, 0, 8, 1), false, true).orThrow();
      assertInstanceOf(RestoreResult.Restored.class, pending.await(3000).orElseThrow());
      assertEquals(false, client.release(lease).orThrow());
    }
  }

  @Test
  default void restoreOutsideTheLeaseIsRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("outside"));
        OrbitClient client = engine.connect(manager())) {
      Lease lease = lease(client, published(engine, client, 2));
      Contract.assertRefused(
          RefusalCode.RANGE_NOT_LEASED, client.restore(lease, ContractEngine.restore(0, 0, 8, 3)));
      Contract.assertRefused(
          RefusalCode.RANGE_NOT_LEASED,
          client.restore(lease, ContractEngine.restore(0, 128, 8, 1)));
      assertUntouched(engine, 8);
    }
  }

  @Test
  default void badBlockIndexIsRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("index"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = published(engine, client, 2);
      IntRun bad = IntRun.of(0, ContractEngine.BLOCKS);
      Contract.assertRefused(
          RefusalCode.BLOCK_OUT_OF_RANGE, client.publish(new PublishRequest(0, "p", keys, bad)));
      RestoreRequest request =
          new RestoreRequest("r", List.of(new RestoreRequest.GroupPages(0, 0, bad)));
      Contract.assertRefused(
          RefusalCode.BLOCK_OUT_OF_RANGE, client.restore(lease(client, keys), request));
    }
  }

  @Test
  default void duplicateDestinationIsRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("duplicate"));
        OrbitClient client = engine.connect(manager())) {
      Lease lease = lease(client, published(engine, client, 2));
      RestoreRequest request =
          new RestoreRequest("r", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.of(9, 9))));
      Contract.assertRefused(RefusalCode.DUPLICATE_DESTINATION, client.restore(lease, request));
      assertUntouched(engine, 9);
    }
  }

  @Test
  default void progressCountsLayers() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("progress"));
        OrbitClient client = engine.connect(manager())) {
      Lease lease = lease(client, published(engine, client, 8));
      PendingRestore pending =
          client.restoreAsync(lease, ContractEngine.restore(0, 0, 8, 8), true, false).orThrow();
      int first = pending.awaitLayers(1, 3000);
      assertTrue(first >= 1, first + " layers");
      byte[] layer = Arrays.copyOf(engine.read(0, 15), 4096);
      assertArrayEquals(Arrays.copyOf(ContractEngine.bytes(7), 4096), layer);
      assertEquals(2, pending.awaitLayers(2, 3000));
      assertArrayEquals(ContractEngine.bytes(7), engine.read(0, 15));
      assertInstanceOf(RestoreResult.Restored.class, pending.await(3000).orElseThrow());
      assertEquals(2, pending.layersDone());
    }
  }

  @Test
  default void twoShardsSealTogether() throws IOException {
    String name = Contract.fresh("shards");
    try (ContractEngine one =
            ContractEngine.of(name, List.of(ContractEngine.group(0, Rule.PREFIX)), 0, 2);
        ContractEngine two =
            ContractEngine.of(name, List.of(ContractEngine.group(0, Rule.PREFIX)), 1, 2);
        OrbitClient first = one.connect(manager());
        OrbitClient second = two.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 1);
      one.fill(0, 0, 100);
      two.fill(0, 0, 200);
      var _ = QueryContract.publish(first, 0, keys, 0);
      assertInstanceOf(QueryResult.Miss.class, first.query(ContractEngine.query("q", keys)));
      var _ = QueryContract.publish(second, 0, keys, 0);
      Lease lease = lease(first, keys);
      assertInstanceOf(
          RestoreResult.Restored.class, first.restore(lease, ContractEngine.restore(0, 0, 1, 1)));
      assertInstanceOf(
          RestoreResult.Restored.class, second.restore(lease, ContractEngine.restore(0, 0, 1, 1)));
      assertArrayEquals(ContractEngine.bytes(100), one.read(0, 1));
      assertArrayEquals(ContractEngine.bytes(200), two.read(0, 1));
    }
  }

  @Test
  default void replicatedGroupIsStoredOnce() throws IOException {
    String name = Contract.fresh("replicated");
    try (ContractEngine one = ContractEngine.of(name, List.of(ContractEngine.replicated(0)), 0, 2);
        ContractEngine two = ContractEngine.of(name, List.of(ContractEngine.replicated(0)), 1, 2);
        OrbitClient first = one.connect(manager());
        OrbitClient second = two.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 1);
      one.fill(0, 0, 300);
      two.fill(0, 0, 300);
      var _ = QueryContract.publish(first, 0, keys, 0);
      assertEquals(
          1, QueryContract.publish(second, 0, keys, 0).reply().count(BlockOutcome.ALREADY));
      Lease lease = lease(second, keys);
      assertInstanceOf(
          RestoreResult.Restored.class, first.restore(lease, ContractEngine.restore(0, 0, 1, 1)));
      assertInstanceOf(
          RestoreResult.Restored.class, second.restore(lease, ContractEngine.restore(0, 0, 1, 1)));
      assertArrayEquals(ContractEngine.bytes(300), one.read(0, 1));
      assertArrayEquals(ContractEngine.bytes(300), two.read(0, 1));
    }
  }

  private static KeyRun published(ContractEngine engine, OrbitClient client, int count) {
    KeyRun keys = ContractEngine.keys(Contract.seed(), count);
    for (int i = 0; i < count; i++) {
      engine.fill(0, i, i);
    }
    var _ = QueryContract.publish(client, 0, keys, 0);
    return keys;
  }

  private static Lease lease(OrbitClient client, KeyRun keys) {
    return Contract.ready(client.query(ContractEngine.query("q", keys))).lease();
  }

  private static void assertUntouched(ContractEngine engine, int block) {
    assertArrayEquals(new byte[ContractEngine.BLOCK_BYTES], engine.read(0, block));
  }
}
