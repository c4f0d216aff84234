package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.state.catalog.Placement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The catalog's control side, as peers and operators ask it. */
public interface CatalogAdmin {
  /** What {@link #placements} gives. */
  sealed interface Placements {
    /** The placements as the leaders know them. */
    record Known(List<Placement> placements) implements Placements {}

    /** Some leader could not be asked. */
    record Refused(Refusal refusal) implements Placements {}
  }

  /** The placements of these catalog shards, of all when none is named. */
  CompletionStage<Placements> placements(Set<Integer> catalogShards);

  /**
   * Carries out an order, or says why not. It answers when the order is taken, not when it is done.
   */
  CompletionStage<HandoffReport> handoff(HandoffOrder order);
}
