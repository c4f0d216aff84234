package io.orbitkv.chaos.sim;

import io.orbitkv.core.FactLog;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts of the SSD tier that the loop is given: right ones, unless a bug is planted. */
final class PlantedDisk {
  private record At(int file, long offset) {}

  private final @Nullable Plant plant;
  private @Nullable EagerExtents extents;
  private @Nullable LateEvictions late;
  private @Nullable SimStore store;

  /** Generations that were given out, in any epoch. */
  private final Map<At, Long> generations = new HashMap<>();

  /** Blocks that are being read back for a ticket. */
  private final Map<Long, List<Long>> readFor = new HashMap<>();

  PlantedDisk(@Nullable Plant plant) {
    this.plant = plant;
  }

  // ---- the store
  // ---------------------------------------------------------------------------------------------------

  /** Results that are taken for good ones. */
  private static final class TrustingStore extends SimStore {
    private final boolean reads;

    TrustingStore(SsdStore store, boolean reads) {
      super(store);
      this.reads = reads;
    }

    @Override
    void ended(SsdTask task) {
      for (int block = 0; block < task.blocks(); block++) {
        for (int slice = 0; slice < task.slices(block); slice++) {
          int result = task.result(block, slice);
          if (task.isRead() == reads && (!reads || result == SsdTask.CHECKSUM)) {
            task.ended(block, slice, SsdTask.DONE, 0);
          }
        }
      }
    }
  }

  /** Says that a write has ended when it is submitted. */
  private static final class EarlyStore extends SimStore {
    EarlyStore(SsdStore store) {
      super(store);
    }

    @Override
    @Nullable SsdTask instead(SsdTask task) {
      if (task.isRead()) {
        return null;
      }
      long[] ids = new long[task.blocks()];
      SsdTask.Slice[][] slices = new SsdTask.Slice[ids.length][];
      for (int block = 0; block < ids.length; block++) {
        ids[block] = task.blockId(block);
        slices[block] = new SsdTask.Slice[task.slices(block)];
        for (int slice = 0; slice < slices[block].length; slice++) {
          slices[block][slice] = task.slice(block, slice);
          task.ended(block, slice, SsdTask.DONE, 0);
        }
      }
      return new SsdTask(task.id(), false, ids, slices);
    }
  }

  /** A disk that seems to end something all the time. */
  private static final class BusyStore extends SimStore {
    private long seen;

    BusyStore(SsdStore store) {
      super(store);
    }

    @Override
    public long progress() {
      return ++seen;
    }
  }

  SimStore store(SsdStore of) {
    SimStore made =
        plant == null
            ? new SimStore(of)
            : switch (plant) {
              case SSD_CHECKSUM_NOT_VERIFIED -> new TrustingStore(of, true);
              case SSD_SHORT_WRITE_SEALED -> new TrustingStore(of, false);
              case SSD_WRITTEN_EARLY -> new EarlyStore(of);
              case SSD_HANG_UNSEEN -> new BusyStore(of);
              default -> new SimStore(of);
            };
    store = made;
    return made;
  }

  // ---- the books of SSD
  // --------------------------------------------------------------------------------------------

  /** Books from which an extent can be taken before its time, and that forget and repeat. */
  private final class EagerExtents extends SsdExtents {
    private final Map<At, Integer> taken = new HashMap<>();

    EagerExtents(long[] fileBytes, int headerBytes, long firstGeneration) {
      super(fileBytes, headerBytes, firstGeneration);
    }

    void freeEarly(int file, long offset, int bytes) {
      super.free(file, offset, bytes);
      taken.merge(new At(file, offset), 1, Integer::sum);
    }

    @Override
    public void free(int file, long offset, int bytes) {
      At place = new At(file, offset);
      int before = taken.getOrDefault(place, 0);
      if (before == 0) {
        super.free(file, offset, bytes);
      } else {
        taken.put(place, before - 1);
      }
    }

    @Override
    public void occupy(Kept kept) {
      if (plant == Plant.SSD_FORGOTTEN_AT_RESTART) {
        kept.forEach((file, offset, _) -> taken.merge(new At(file, offset), 1, Integer::sum));
      } else {
        super.occupy(kept);
      }
    }

    @Override
    public SsdExtents.@Nullable Place allocate(int bytes) {
      SsdExtents.Place place = super.allocate(bytes);
      if (place == null || plant != Plant.SSD_GENERATION_KEPT) {
        return place;
      }
      At at = new At(place.file(), place.offset());
      long kept = generations.computeIfAbsent(at, _ -> place.generation());
      return new SsdExtents.Place(place.file(), place.offset(), place.bytes(), kept);
    }
  }

  SsdExtents extents(long[] fileBytes, int headerBytes, long firstGeneration) {
    if (plant != Plant.SSD_REUSED_WHILE_READ
        && plant != Plant.SSD_GENERATION_KEPT
        && plant != Plant.SSD_FORGOTTEN_AT_RESTART) {
      return new SsdExtents(fileBytes, headerBytes, firstGeneration);
    }
    EagerExtents eager = new EagerExtents(fileBytes, headerBytes, firstGeneration);
    extents = eager;
    return eager;
  }

  // ---- facts
  // -------------------------------------------------------------------------------------------------------

  /**
   * A fact is in the journal and has not been applied by the loop.
   *
   * @param books of the pool, null if they free nothing early
   */
  void appended(Fact fact, FactModel model, HostState live, @Nullable EagerBooks books) {
    if (plant == Plant.SSD_REUSED_WHILE_READ
        && fact.event() instanceof HostEvent.BlocksEvicted evicted) {
      evicted.blocks().forEach(id -> reuseWhileRead(model, live, id));
    }
    if (plant == Plant.SSD_READ_NOT_HELD && books != null) {
      freeWhatIsRead(fact.event(), model, live, books);
    }
    SimStore of = store;
    if (plant == Plant.SSD_WRITE_NOT_HELD
        && books != null
        && of != null
        && fact.event() instanceof HostEvent.BlocksEvicted evicted) {
      evicted
          .blocks()
          .forEach(
              id -> {
                int slot = live.slotOf(id);
                if (slot >= 0 && live.pins(slot) == 0 && of.isWriting(id)) {
                  books.freeEarly(live, slot);
                }
              });
    }
  }

  private void reuseWhileRead(FactModel model, HostState live, long id) {
    EagerExtents eager = extents;
    FactModel.Block block = model.block(id);
    int slot = live.slotOf(id);
    if (eager != null && block != null && block.isLoading() && slot >= 0) {
      for (int slice = 0; slice < live.slices(slot); slice++) {
        eager.freeEarly(
            live.ssdFile(slot, slice), live.ssdOffset(slot, slice), live.extentBytes(slot, slice));
      }
    }
  }

  private void freeWhatIsRead(HostEvent event, FactModel model, HostState live, EagerBooks books) {
    switch (event) {
      case HostEvent.BlocksLoading loading -> {
        List<Long> ids = new ArrayList<>();
        loading.blocks().forEach(ids::add);
        readFor.put(loading.ticketId(), ids);
      }
      case HostEvent.TicketClosed closed -> {
        List<Long> ids = readFor.remove(closed.ticketId());
        for (long id : ids == null ? List.<Long>of() : ids) {
          FactModel.Block block = model.block(id);
          if (block != null && block.isLoading()) {
            books.freeEarly(live, live.slotOf(id));
          }
        }
      }
      default -> {
        // Nothing is begun or ended by it.
      }
    }
  }

  // ---- the journal
  // -------------------------------------------------------------------------------------------------

  /** Tells of copies that left SSD together with those that took their place. */
  private static final class LateEvictions implements FactLog {
    private record Late(long atMicros, HostEvent event) {}

    private final SimLog log;
    private final ArrayDeque<Late> late = new ArrayDeque<>();

    /** Facts that the loop believes to have appended beyond what there are. */
    private long ahead;

    LateEvictions(SimLog log) {
      this.log = log;
    }

    @Override
    public long append(long atMicros, HostEvent event) {
      switch (event) {
        case HostEvent.SsdEvicted _ -> {
          late.add(new Late(atMicros, event));
          ahead++;
        }
        case HostEvent.DigestRecorded _ -> ahead++;
        case HostEvent.SsdWritten _, HostEvent.EpochEnded _ -> {
          for (Late fact; (fact = late.poll()) != null; ahead--) {
            log.append(fact.atMicros(), fact.event());
          }
          log.append(atMicros, event);
        }
        default -> log.append(atMicros, event);
      }
      return log.folded().position() + ahead;
    }

    @Override
    public boolean hasRoom(int facts, long columnBytes) {
      return log.hasRoom(facts, columnBytes);
    }

    @Override
    public void endBatch() {}
  }

  FactLog log(SimLog log) {
    if (plant != Plant.SSD_FREED_BEFORE_FACT) {
      return log;
    }
    LateEvictions made = new LateEvictions(log);
    late = made;
    return made;
  }

  /** Whether the live state may be ahead of the journal, which is the planted bug itself. */
  boolean journalLags() {
    return late != null;
  }

  void epochEnds() {
    extents = null;
    late = null;
    store = null;
    readFor.clear();
  }
}
