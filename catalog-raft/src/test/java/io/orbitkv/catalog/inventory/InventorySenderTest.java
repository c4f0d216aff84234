package io.orbitkv.catalog.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.inventory.InventoryReply.Accepted;
import io.orbitkv.catalog.inventory.InventoryReply.Progress;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.StateKey;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** One stream's sending end, reply by reply, under a clock of the test. */
class InventorySenderTest {
  private final StateKey key = Rows.key(1);
  private final int shard = CatalogShards.of(key);
  private final OwnInventory inventory = new OwnInventory(0, 16, NamespaceScope.ALL);
  private final List<InventoryFrame> frames = new ArrayList<>();
  private final List<InventoryLink.Listener> streams = new ArrayList<>();
  private final InventoryAnnouncer announcer =
      new InventoryAnnouncer(
          Rows.run("a", 1), inventory, this::open, new Random(1), () -> this.nanos);
  private long nanos;

  InventorySenderTest() {
    announcer.announce(shard, Set.of(new NodeId("r")));
    settle();
  }

  private InventoryLink open(
      NodeId replica, OwnerRun run, int catalogShard, InventoryLink.Listener listener) {
    streams.add(listener);
    return new InventoryLink() {
      @Override
      public void send(InventoryFrame frame) {
        frames.add(frame);
      }

      @Override
      public void close() {}
    };
  }

  private void settle() {
    while (announcer.step()) {
      assertTrue(frames.size() < 1000, "it sends without end");
    }
  }

  private void reply(InventoryReply reply) {
    streams.getLast().reply(reply);
    settle();
  }

  private void change(long position) {
    inventory.sealed(position, key, Tier.DRAM, position, 1);
    inventory.advance(position);
    settle();
  }

  @Test
  void shouldKeepToTheWindow() {
    reply(new Accepted(OptionalLong.of(0), 2));
    for (int position = 1; position <= 5; position++) {
      change(position);
    }
    assertEquals(2, frames.size());
    reply(new Progress(1, OptionalLong.of(1)));
    assertEquals(3, frames.size());
    InventoryFrame.Changes rest = (InventoryFrame.Changes) frames.getLast();
    assertEquals(2, rest.after());
    assertEquals(5, rest.through());
  }

  @Test
  void shouldSendASnapshotWhereChangesAreNotHeldAnyMore() {
    for (int position = 1; position <= 40; position++) {
      change(position);
    }
    reply(new Accepted(OptionalLong.of(3), 8));
    assertEquals(new InventoryFrame.SnapshotBegin(1, 40), frames.get(0));
    assertEquals(new InventoryFrame.SnapshotEnd(1, 1, 1), frames.getLast());
  }

  @Test
  void shouldOpenAgainWhenAFrameNeverCame() {
    reply(new Accepted(OptionalLong.of(0), 8));
    change(1);
    change(2);
    reply(new Progress(1, OptionalLong.of(1)));
    // The first frame came twice and the second never: the count is right, the position is not.
    reply(new Progress(2, OptionalLong.of(1)));
    nanos += InventorySender.SILENCE_NANOS + 1;
    settle();
    nanos += InventorySender.SILENCE_NANOS;
    settle();
    assertEquals(2, streams.size());
    reply(new Accepted(OptionalLong.of(1), 8));
    InventoryFrame.Changes again = (InventoryFrame.Changes) frames.getLast();
    assertEquals(1, again.after());
    reply(new Progress(1, OptionalLong.of(2)));
    assertFalse(announcer.step(), "it goes on for no reason");
  }

  @Test
  void shouldAskNowAndThenWhetherTheViewIsThere() {
    reply(new Accepted(OptionalLong.of(0), 8));
    change(1);
    reply(new Progress(1, OptionalLong.of(1)));
    nanos += InventorySender.HEARTBEAT_NANOS;
    settle();
    assertEquals(new InventoryFrame.Changes(1, 1, RowBatch.EMPTY), frames.getLast());
    reply(new InventoryReply.Restart("the replica dropped it"));
    nanos += InventorySender.HEARTBEAT_NANOS;
    settle();
    assertEquals(2, streams.size());
  }
}
