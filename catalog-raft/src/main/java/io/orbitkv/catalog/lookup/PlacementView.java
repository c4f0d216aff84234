package io.orbitkv.catalog.lookup;

import io.orbitkv.state.catalog.Placement;

/** The placements as this host knows them. Never waits. */
public interface PlacementView {
  /** The newest known placement of a catalog shard. */
  Placement placement(int catalogShard);

  /** Another host knows a newer one; an older one changes nothing. */
  void learn(Placement newer);
}
