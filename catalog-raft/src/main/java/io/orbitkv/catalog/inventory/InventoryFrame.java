package io.orbitkv.catalog.inventory;

/**
 * What an owner sends to a replica of a catalog shard. Positions are those of the owner's journal.
 */
public sealed interface InventoryFrame {

  /**
   * A view begins that replaces all that was sent before, once it is whole.
   *
   * @param snapshot a number that no other snapshot of this run has
   * @param position the view is what the owner had at this position
   */
  record SnapshotBegin(long snapshot, long position) implements InventoryFrame {}

  /**
   * Some rows of the view.
   *
   * @param snapshot the number of {@link SnapshotBegin}
   * @param index 0, 1, 2... in this snapshot
   * @param rows 1 to {@link RowBatch#MAX_ROWS} rows
   */
  record SnapshotRows(long snapshot, int index, RowBatch rows) implements InventoryFrame {}

  /**
   * The view is whole.
   *
   * @param snapshot the number of {@link SnapshotBegin}
   * @param frames how many {@link SnapshotRows} there were
   * @param rows how many rows they had together
   */
  record SnapshotEnd(long snapshot, int frames, long rows) implements InventoryFrame {}

  /**
   * All changes between two positions.
   *
   * @param after the position after which it begins
   * @param through the position with which it ends; the next frame begins after it
   * @param rows the changes in order, possibly none
   */
  record Changes(long after, long through, RowBatch rows) implements InventoryFrame {
    /** Refuses positions that run backwards. */
    public Changes {
      if (after < 0 || through < after) {
        throw new IllegalArgumentException("changes after " + after + " through " + through);
      }
    }
  }
}
