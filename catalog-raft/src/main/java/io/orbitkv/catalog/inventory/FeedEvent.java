package io.orbitkv.catalog.inventory;

/** What a replica's lookups came to see, for subscribers, each with its number in the feed. */
public sealed interface FeedEvent {
  /** Its number, 1, 2, 3... in this replica's run. */
  long number();

  /**
   * An owner's blocks changed.
   *
   * @param number its number
   * @param owner the owner
   * @param after the position of its journal after which the changes begin
   * @param through the position with which they end
   * @param rows the changes
   */
  record Changed(long number, OwnerRun owner, long after, long through, RowBatch rows)
      implements FeedEvent {}

  /**
   * A new view of an owner replaced what was seen of it: whoever needs its rows reads the table.
   *
   * @param number its number
   * @param owner the owner
   * @param position the position of its journal that the view stands for
   */
  record Replaced(long number, OwnerRun owner, long position) implements FeedEvent {}

  /**
   * Nothing of this run is seen any more.
   *
   * @param number its number
   * @param owner the run
   */
  record Dropped(long number, OwnerRun owner) implements FeedEvent {}
}
