package io.orbitkv.catalog.inventory;

/**
 * Figures of one table.
 *
 * @param visibleRows rows that lookups see
 * @param stagingRows rows of views that are not whole yet
 * @param deadRows rows that lookups do not see any more and that are being taken out
 * @param bytes bytes of its arrays
 */
public record TableStats(long visibleRows, long stagingRows, long deadRows, long bytes) {

  /** Bytes a row, 0 without rows. */
  public double bytesPerRow() {
    long rows = visibleRows + stagingRows + deadRows;
    return rows == 0 ? 0 : (double) bytes / rows;
  }
}
