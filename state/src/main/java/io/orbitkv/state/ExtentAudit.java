package io.orbitkv.state;

import io.orbitkv.state.HostEvent.SlicesReserved;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Watches the extents of a fold: what {@link HostState} has no memory to remember. Told every fact
 * before it is applied and every effect of it, it finds an extent that overlaps a live one, a
 * generation that did not grow at its offset, and one that is freed twice.
 *
 * <p>For tests, {@code replay --verify} and the simulator: it keeps an entry for each offset that
 * was ever used.
 */
public final class ExtentAudit implements Effects {
  private record Extent(long offset, int bytes, long generation) {}

  private final TreeMap<Long, Extent> live = new TreeMap<>();
  private final Map<Long, Long> generations = new HashMap<>();
  private long position;

  /**
   * Looks at a fact that is about to be applied.
   *
   * @throws BrokenInvariant when it reserves an extent that is not free or not new
   */
  public void before(Fact fact) {
    position = fact.position();
    if (fact.event() instanceof SlicesReserved event) {
      for (int i = 0; i < event.extentOffsets().size(); i++) {
        reserve(
            new Extent(
                event.extentOffsets().get(i),
                event.extentBytes(),
                event.extentGenerations().get(i)));
      }
    }
  }

  private void reserve(Extent extent) {
    Map.Entry<Long, Extent> below = live.lowerEntry(extent.offset + extent.bytes);
    if (below != null && below.getValue().offset + below.getValue().bytes > extent.offset) {
      throw HostInvariants.broken(
          position, "%s is reserved over the live %s", extent, below.getValue());
    }
    Long before = generations.put(extent.offset, extent.generation);
    if (before != null && before >= extent.generation) {
      throw HostInvariants.broken(
          position, "%s is reserved after generation %d of its offset", extent, before);
    }
    live.put(extent.offset, extent);
  }

  /**
   * Looks at an effect of the fact.
   *
   * @throws BrokenInvariant when the extent is not a live one
   */
  @Override
  public void extentFreed(long offset, int bytes, long generation) {
    Extent freed = new Extent(offset, bytes, generation);
    if (!freed.equals(live.remove(offset))) {
      throw HostInvariants.broken(position, "%s is freed and is not live", freed);
    }
  }
}
