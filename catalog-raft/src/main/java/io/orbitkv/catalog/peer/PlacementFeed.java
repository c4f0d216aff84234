package io.orbitkv.catalog.peer;

import io.orbitkv.state.catalog.Placement;
import java.util.List;
import java.util.Optional;

/** The changes of placements in order, for subscribers. */
public interface PlacementFeed {
  /**
   * One change.
   *
   * @param position its position, growing
   * @param placement what is in force since
   */
  record Change(long position, Placement placement) {}

  /** The position of the latest change, 0 when there was none. */
  long last();

  /** At most {@code max} changes behind a position; nothing when some are not held any more. */
  Optional<List<Change>> after(long position, int max);

  /** Has {@code wake} called after each change; it returns at once. */
  void onChange(Runnable wake);

  /** Ends {@link #onChange}. */
  void removeListener(Runnable wake);
}
