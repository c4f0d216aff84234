package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.RemoteReadBegun;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.HostEvent.SsdWritten;
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

  private record SsdPlace(int file, long offset) {}

  private final TreeMap<Long, Extent> live = new TreeMap<>();
  private final Map<Long, Long> generations = new HashMap<>();
  private final Map<SsdPlace, Long> liveOnSsd = new HashMap<>();
  private final Map<SsdPlace, Long> ssdGenerations = new HashMap<>();
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
    } else if (fact.event() instanceof RemoteReadBegun event) {
      reserve(event);
    }
  }

  private void reserve(RemoteReadBegun event) {
    int column = 0;
    for (GroupRead group : event.groups()) {
      for (int block = 0; block < group.keys().size(); block++) {
        for (int slice = 0; slice < group.sliceBytes().size(); slice++, column++) {
          reserve(
              new Extent(
                  event.extentOffsets().get(column),
                  (int) group.sliceBytes().get(slice),
                  event.extentGenerations().get(column)));
        }
      }
    }
  }

  /**
   * The same for hosts with an SSD tier, where the length of an extent that a block is read back to
   * is known to the state only.
   *
   * @param state what the fact will be applied to
   * @throws BrokenInvariant when it reserves an extent that is not free or not new
   */
  public void before(Fact fact, HostState state) {
    before(fact);
    if (fact.event() instanceof BlocksLoading event) {
      int column = 0;
      for (int i = 0; i < event.blocks().size(); i++) {
        int slot = state.slotOf(event.blocks().idAt(i));
        for (int slice = 0; slot >= 0 && slice < state.slices(slot); slice++, column++) {
          reserve(
              new Extent(
                  event.extentOffsets().get(column),
                  state.extentBytes(slot, slice),
                  event.extentGenerations().get(column)));
        }
      }
    } else if (fact.event() instanceof SsdWritten event) {
      for (int i = 0; i < event.offsets().size(); i++) {
        writeToSsd(
            new SsdPlace((int) event.files().get(i), event.offsets().get(i)),
            event.generations().get(i));
      }
    }
  }

  private void writeToSsd(SsdPlace place, long generation) {
    Long before = ssdGenerations.put(place, generation);
    if (before != null && before >= generation) {
      throw HostInvariants.broken(
          position, "%s is written with generation %d after %d", place, generation, before);
    }
    if (liveOnSsd.put(place, generation) != null) {
      throw HostInvariants.broken(position, "%s is written while it is live", place);
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

  @Override
  public void ssdExtentFreed(int file, long offset, int bytes, long generation) {
    SsdPlace place = new SsdPlace(file, offset);
    if (!Long.valueOf(generation).equals(liveOnSsd.remove(place))) {
      throw HostInvariants.broken(
          position, "%s of generation %d is freed and is not live", place, generation);
    }
  }
}
