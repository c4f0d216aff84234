package io.orbitkv.catalog.inventory;

import java.util.OptionalLong;

/**
 * How far one owner's stream to a table is.
 *
 * @param run the owner's run
 * @param position the journal position of the view that lookups see; empty while there is none
 * @param rows rows that lookups see
 * @param stagingRows rows of a view that is not whole yet
 */
public record OwnerProgress(OwnerRun run, OptionalLong position, long rows, long stagingRows) {

  /** Whether lookups see everything that this run had at some position. */
  public boolean isWhole() {
    return position.isPresent();
  }
}
