package io.orbitkv.catalog.bench;

import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.InventoryFrame;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.RowBatch;
import io.orbitkv.catalog.inventory.TableStats;
import io.orbitkv.catalog.inventory.TableSweeper;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.state.catalog.NodeId;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * Fills a table with rows of two owners, asks it, and asks it while one owner's rows are removed.
 */
public final class TableBench {
  private static final int KEYS_OF_A_QUERY = 64;
  private static final int SAMPLE_KEYS = 65_536;
  private static final int MAX_SAMPLES = 4_000_000;

  private final int rows;
  private final InventoryReceiver receiver = new InventoryReceiver(8);
  private final InventoryTable table = receiver.serve(0);
  private final Fingerprint[] sample = new Fingerprint[SAMPLE_KEYS];
  private long found;

  private TableBench(int rows) {
    if (rows < SAMPLE_KEYS) {
      throw new IllegalArgumentException(rows + " rows, not " + SAMPLE_KEYS + " or more");
    }
    this.rows = rows;
  }

  /** Measures with so many rows of each owner. */
  public static TableFigures run(int rows) {
    return new TableBench(rows).run();
  }

  private TableFigures run() {
    fill("kept", 1);
    fill("leaving", 2);
    TableStats stats = table.stats();
    long warmUntil = System.nanoTime() + 2_000_000_000L;
    queries(() -> System.nanoTime() - warmUntil < 0);
    long calmUntil = System.nanoTime() + 3_000_000_000L;
    Latencies calm = queries(() -> System.nanoTime() - calmUntil < 0);
    double perSecond = singles();

    Latencies removing;
    long began = System.nanoTime();
    table.fence(new NodeId("leaving"), 2);
    try (TableSweeper _ = new TableSweeper(receiver)) {
      removing = queries(() -> table.stats().deadRows() > 0);
    }
    double removingMillis = (System.nanoTime() - began) / 1e6;
    if (table.stats().deadRows() != 0 || found == 0) {
      throw new IllegalStateException("rows are left: " + table.stats());
    }
    return new TableFigures(rows, stats.bytesPerRow(), perSecond, calm, removing, removingMillis);
  }

  private void fill(String owner, long seed) {
    OwnerRun run = new OwnerRun(new NodeId(owner), new UUID(seed, seed), 1);
    InventoryReceiver.Stream stream = receiver.open(run, 0);
    stream.frame(new InventoryFrame.SnapshotBegin(1, 1));
    SplittableRandom keys = new SplittableRandom(7);
    int every = Math.max(1, rows / sample.length);
    int frames = 0;
    for (int from = 0; from < rows; from += RowBatch.MAX_ROWS) {
      int count = Math.min(RowBatch.MAX_ROWS, rows - from);
      RowBatch.Builder batch = new RowBatch.Builder(count);
      for (int i = 0; i < count; i++) {
        long high = keys.nextLong();
        long low = keys.nextLong();
        batch.add(high, low, i, 64, 0, Tier.DRAM.code(), false);
        if ((from + i) % every == 0) {
          sample[(from + i) / every % sample.length] = new Fingerprint(high, low);
        }
      }
      stream.frame(new InventoryFrame.SnapshotRows(1, frames++, batch.build()));
    }
    stream.frame(new InventoryFrame.SnapshotEnd(1, frames, rows));
    if (!table.isWhole(Set.of(run.node()))) {
      throw new IllegalStateException("the view of " + owner + " is not whole");
    }
  }

  /** Queries of {@value #KEYS_OF_A_QUERY} keys that are there, from anywhere in the table. */
  private Latencies queries(BooleanSupplier goOn) {
    long[] nanos = new long[MAX_SAMPLES];
    int count = 0;
    SplittableRandom choice = new SplittableRandom(3);
    while (count < nanos.length && goOn.getAsBoolean()) {
      long before = System.nanoTime();
      for (int i = 0; i < KEYS_OF_A_QUERY; i++) {
        found += table.find(sample[choice.nextInt(sample.length)], 4).size();
      }
      nanos[count++] = System.nanoTime() - before;
    }
    return Latencies.of(nanos, count);
  }

  private double singles() {
    SplittableRandom keys = new SplittableRandom(7);
    long began = System.nanoTime();
    int count = Math.min(rows, 1_000_000);
    for (int i = 0; i < count; i++) {
      found += table.find(new Fingerprint(keys.nextLong(), keys.nextLong()), 4).size();
    }
    return count / ((System.nanoTime() - began) / 1e9);
  }
}
