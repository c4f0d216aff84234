package io.orbitkv.catalog.inventory;

import java.util.Iterator;
import java.util.Optional;

/**
 * What this host has, as senders read it: an exact copy at one position of its journal, and what
 * changed behind any position that is still held. Safe for many threads.
 */
public interface InventorySource {

  /** Through which position of the journal everything is known. */
  long position();

  /** All rows of a catalog shard as they are at one position. */
  Snapshot snapshot(int catalogShard);

  /**
   * The changes of a catalog shard behind a position, at most {@code maxRows} of them.
   *
   * @return empty when some of them are not held any more: a snapshot is needed. With nothing to
   *     tell, no rows and a {@code through} that may lie ahead of {@code after}
   */
  Optional<InventoryFrame.Changes> changesAfter(int catalogShard, long after, int maxRows);

  /** Has {@code wake} called when {@link #position} grew; it must return at once. */
  void onAdvance(Runnable wake);

  /**
   * A copy at one position.
   *
   * @param position the position
   * @param rows how many rows
   * @param batches the rows, at most {@link RowBatch#MAX_ROWS} in each batch
   */
  record Snapshot(long position, long rows, Iterator<RowBatch> batches) {}
}
