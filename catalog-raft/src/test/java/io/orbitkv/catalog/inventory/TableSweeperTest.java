package io.orbitkv.catalog.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The thread that gives the memory of dead views back. */
class TableSweeperTest {
  private static final int ROWS = 1000;

  private final InventoryReceiver receiver = new InventoryReceiver(8);
  private final InventoryTable table = receiver.serve(3);

  private void fill(OwnerRun run) {
    InventoryReceiver.Stream stream = receiver.open(run, 3);
    stream.frame(new InventoryFrame.SnapshotBegin(1, 1));
    long[] numbers = LongStream.range(0, ROWS).toArray();
    stream.frame(new InventoryFrame.SnapshotRows(1, 0, Rows.seals(1, 0, numbers)));
    stream.frame(new InventoryFrame.SnapshotEnd(1, 1, ROWS));
  }

  @Test
  void shouldTakeOutRowsOfDeadViewsOnly() throws InterruptedException {
    OwnerRun kept = Rows.run("a", 1);
    OwnerRun fenced = Rows.run("b", 1);
    fill(kept);
    fill(fenced);
    table.fence(fenced.node(), 2);
    assertEquals(ROWS, table.stats().deadRows());
    try (TableSweeper _ = new TableSweeper(receiver)) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (table.stats().deadRows() > 0) {
        assertTrue(System.nanoTime() - deadline < 0, table.stats().toString());
        Thread.sleep(5);
      }
    }
    assertEquals(ROWS, table.stats().visibleRows());
    List<Candidate> found = table.find(Fingerprint.of(Rows.key(7)), 4);
    assertEquals(List.of(new Candidate(kept, Tier.DRAM, 1, 4096)), found);
  }
}
