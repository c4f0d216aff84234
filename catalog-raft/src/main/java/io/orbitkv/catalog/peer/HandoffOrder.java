package io.orbitkv.catalog.peer;

import io.orbitkv.state.catalog.NodeId;
import java.util.List;

/** What an operator wants of the handoff of one catalog shard. */
public sealed interface HandoffOrder {
  /** The catalog shard. */
  int catalogShard();

  /** Only tell how it is. */
  record Show(int catalogShard) implements HandoffOrder {}

  /** Begin one from a generation to new members. */
  record Start(int catalogShard, long fromGeneration, List<NodeId> members)
      implements HandoffOrder {}

  /**
   * Go on with one that stands still.
   *
   * @param attempt its number, as {@link HandoffReport.Status} tells it
   */
  record Resume(int catalogShard, long attempt) implements HandoffOrder {}

  /**
   * Undo one that is not committed.
   *
   * @param attempt its number, as {@link HandoffReport.Status} tells it
   */
  record RollBack(int catalogShard, long attempt) implements HandoffOrder {}
}
