package io.orbitkv.catalog.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.inventory.InventoryFrame.Changes;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotBegin;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotEnd;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotRows;
import io.orbitkv.catalog.inventory.InventoryReply.Accepted;
import io.orbitkv.catalog.inventory.InventoryReply.Progress;
import io.orbitkv.catalog.inventory.InventoryReply.Rejected;
import io.orbitkv.catalog.inventory.InventoryReply.Restart;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What lookups see of streams, frame by frame. */
class InventoryTableTest {
  private final InventoryReceiver receiver = new InventoryReceiver(8);
  private final InventoryTable table = receiver.serve(3);
  private final OwnerRun run = Rows.run("a", 1);

  private InventoryReceiver.Stream stream = receiver.open(run, 3);

  private void whole(long snapshot, long position, long... numbers) {
    stream.frame(new SnapshotBegin(snapshot, position));
    stream.frame(new SnapshotRows(snapshot, 0, Rows.seals(1, 0, numbers)));
    assertInstanceOf(Progress.class, stream.frame(new SnapshotEnd(snapshot, 1, numbers.length)));
  }

  private int found(long number) {
    return table.find(Fingerprint.of(Rows.key(number)), 4).size();
  }

  @Test
  void shouldHideASnapshotUntilItIsWhole() {
    assertEquals(new Accepted(OptionalLong.empty(), 8), stream.first());
    stream.frame(new SnapshotBegin(1, 10));
    InventoryReply reply = stream.frame(new SnapshotRows(1, 0, Rows.seals(1, 0, 1, 2)));
    assertEquals(new Progress(2, OptionalLong.empty()), reply);
    assertEquals(0, found(1));
    reply = stream.frame(new SnapshotEnd(1, 1, 2));
    assertEquals(new Progress(3, OptionalLong.of(10)), reply);
    assertEquals(1, found(1));
    assertEquals(
        List.of(new Candidate(run, Tier.DRAM, 1, 4096)),
        table.find(Fingerprint.of(Rows.key(2)), 4));
  }

  @Test
  void shouldReplaceAViewAtOnceAndSweepTheOldOne() {
    whole(1, 10, 1, 2);
    stream.frame(new SnapshotBegin(2, 20));
    stream.frame(new SnapshotRows(2, 0, Rows.seals(1, 0, 2, 3)));
    assertEquals(1, found(1));
    assertEquals(1, found(2));
    assertEquals(0, found(3));
    stream.frame(new SnapshotEnd(2, 1, 2));
    assertEquals(0, found(1));
    assertEquals(1, found(2));
    assertEquals(1, found(3));
    assertEquals(2, table.stats().deadRows());
    int steps = 0;
    while (table.sweep(1)) {
      steps++;
    }
    assertTrue(steps > 2);
    assertEquals(new TableStats(2, 0, 0, table.stats().bytes()), table.stats());
    assertEquals(1, found(3));
  }

  @Test
  void shouldPassOverDuplicatesAndAskForWhatIsMissing() {
    whole(1, 10, 1);
    Changes frame = new Changes(10, 12, Rows.seals(2, 1, 5));
    stream.frame(frame);
    stream.frame(new Changes(12, 13, Rows.removals(2, 1, 5)));
    assertEquals(0, found(5));
    assertInstanceOf(Progress.class, stream.frame(frame));
    assertEquals(0, found(5), "a duplicate resurrected a removed block");
    assertInstanceOf(Restart.class, stream.frame(new Changes(14, 15, Rows.seals(2, 1, 6))));
    stream = receiver.open(run, 3);
    assertEquals(new Accepted(OptionalLong.of(13), 8), stream.first());
  }

  @Test
  void shouldApplyOnlyTheNewPartOfAnOverlappingFrame() {
    whole(1, 10, 1);
    stream.frame(new Changes(10, 12, Rows.seals(2, 1, 5)));
    stream.frame(new Changes(12, 13, Rows.removals(2, 1, 5)));
    RowBatch.Builder overlap = new RowBatch.Builder(2);
    Fingerprint five = Fingerprint.of(Rows.key(5));
    Fingerprint six = Fingerprint.of(Rows.key(6));
    overlap.add(five.high(), five.low(), 2, 4, 1, 0, false);
    overlap.add(six.high(), six.low(), 3, 4, 4, 0, false);
    stream.frame(new Changes(10, 14, overlap.build()));
    assertEquals(0, found(5));
    assertEquals(1, found(6));
  }

  @Test
  void shouldDropAnIncompleteSnapshotWithItsStream() {
    stream.frame(new SnapshotBegin(1, 10));
    stream.frame(new SnapshotRows(1, 0, Rows.seals(1, 0, 1)));
    InventoryReceiver.Stream old = stream;
    stream = receiver.open(run, 3);
    assertInstanceOf(Restart.class, old.frame(new SnapshotEnd(1, 1, 1)));
    assertInstanceOf(Restart.class, stream.frame(new SnapshotEnd(1, 1, 1)));
    assertEquals(0, found(1));
  }

  @Test
  void shouldRefuseASnapshotWithAHole() {
    stream.frame(new SnapshotBegin(1, 10));
    assertInstanceOf(Restart.class, stream.frame(new SnapshotRows(1, 1, Rows.seals(1, 0, 1))));
    assertInstanceOf(Restart.class, stream.frame(new SnapshotEnd(1, 1, 1)));
  }

  @Test
  void shouldForgetAnOldRunWhenANewOneComes() {
    whole(1, 10, 1);
    InventoryReceiver.Stream old = stream;
    stream = receiver.open(Rows.run("a", 2), 3);
    assertEquals(0, found(1));
    assertEquals(new Accepted(OptionalLong.empty(), 8), stream.first());
    assertInstanceOf(Restart.class, old.frame(new Changes(10, 11, Rows.seals(1, 1, 2))));
    assertInstanceOf(Rejected.class, receiver.open(run, 3).first());
    OwnerRun impostor = new OwnerRun(run.node(), new UUID(9, 9), 2);
    assertInstanceOf(Rejected.class, receiver.open(impostor, 3).first());
  }

  @Test
  void shouldFenceAnOwner() {
    whole(1, 10, 1);
    table.fence(run.node(), 2);
    assertEquals(0, found(1));
    assertInstanceOf(Rejected.class, receiver.open(run, 3).first());
    assertInstanceOf(Accepted.class, receiver.open(Rows.run("a", 2), 3).first());
    table.fence(Rows.run("b", 1).node(), 5);
    assertInstanceOf(Rejected.class, receiver.open(Rows.run("b", 4), 3).first());
    assertInstanceOf(Accepted.class, receiver.open(Rows.run("b", 5), 3).first());
  }

  @Test
  void shouldRejectACatalogShardThatItDoesNotServe() {
    assertInstanceOf(Rejected.class, receiver.open(run, 4).first());
    whole(1, 10, 1);
    receiver.retire(3);
    assertInstanceOf(Rejected.class, stream.frame(new Changes(10, 11, RowBatch.EMPTY)));
  }

  @Test
  void shouldLimitCandidatesOfATier() {
    for (int owner = 0; owner < 6; owner++) {
      stream = receiver.open(Rows.run("n" + owner, 1), 3);
      whole(1, 10, 7);
    }
    assertEquals(4, found(7));
  }

  @Test
  void shouldTellSubscribersInOrderAndSayWhatItForgot() {
    whole(1, 10, 1);
    stream.frame(new Changes(10, 12, Rows.seals(2, 1, 5)));
    table.drop(run.node());
    List<FeedEvent> events = table.feed().after(0, 10).orElseThrow();
    assertEquals(
        List.of(
            new FeedEvent.Replaced(1, run, 10),
            new FeedEvent.Changed(2, run, 10, 12, Rows.seals(2, 1, 5)),
            new FeedEvent.Dropped(3, run)),
        events);
    InventoryFeed small = new InventoryFeed(2);
    small.replaced(run, 1);
    small.replaced(run, 2);
    small.replaced(run, 3);
    assertTrue(small.after(0, 10).isEmpty());
    assertFalse(small.after(1, 10).isEmpty());
    assertTrue(small.after(4, 10).isEmpty(), "a number of another run");
  }

  @Test
  void shouldRefuseBadRows() {
    byte[] good = Rows.seals(1, 0, 1).bytes();
    assertTrue(RowBatch.parse(good).isPresent());
    assertTrue(RowBatch.parse(new byte[32]).isEmpty());
    byte[] tier = good.clone();
    tier[32] = 7;
    assertTrue(RowBatch.parse(tier).isEmpty());
    byte[] length = good.clone();
    length[24] = -1;
    assertTrue(RowBatch.parse(length).isEmpty());
  }
}
