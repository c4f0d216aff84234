package io.orbitkv.catalog.placement;

import io.orbitkv.state.catalog.CatalogState;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.OwnerStream;
import io.orbitkv.state.catalog.Placement;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one catalog shard had agreed on at some point of its log.
 *
 * @param position how many commands had changed something
 * @param placement who holds it; null before it was founded
 * @param lastAttempt how many handoffs had been attempted
 * @param handoff the one that is not over; null if there is none
 * @param owners the newest run of each owner
 */
public record CatalogView(
    int catalogShard,
    long position,
    @Nullable Placement placement,
    long lastAttempt,
    @Nullable Handoff handoff,
    SortedMap<NodeId, OwnerStream> owners) {

  /** Copies the map. */
  public CatalogView {
    owners = Collections.unmodifiableSortedMap(new TreeMap<>(owners));
  }

  /** What a state is now. */
  public static CatalogView of(CatalogState state) {
    return new CatalogView(
        state.catalogShard(),
        state.position(),
        state.placement(),
        state.lastAttempt(),
        state.handoff(),
        state.owners());
  }
}
