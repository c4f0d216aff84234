package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.LayersBound;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.PoolFact;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.HostEvent.SsdTierOpened;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostEvent.TierDegraded;
import io.orbitkv.state.HostEvent.TierFact;
import io.orbitkv.state.HostEvent.TierRecovered;
import io.orbitkv.state.Totals.SsdCounter;

/** How blocks move between DRAM and SSD, and which SSD tier it is. */
final class Tiers {
  final LongMap<BoundLayers> layers = new LongMap<>();

  private final Registry registry;
  private final BlockTable blocks;
  private final Publishes publishes;
  private final Totals totals;

  /** Whether there was any fact of a tier; the digest and the checkpoint say nothing before. */
  boolean used;

  long tierIdHigh;
  long tierIdLow;
  Longs fileBytes = Longs.EMPTY;
  long nextGeneration = 1;

  final KeptPool pool;

  Tiers(Registry registry, BlockTable blocks, Publishes publishes, Totals totals) {
    this.pool = new KeptPool(blocks, totals);
    this.registry = registry;
    this.blocks = blocks;
    this.publishes = publishes;
    this.totals = totals;
  }

  long digest() {
    if (!used) {
      return 0;
    }
    long hash = Mix.chain(Mix.chain(Mix.chain(0x55D71E5L, tierIdHigh), tierIdLow), nextGeneration);
    for (int i = 0; i < fileBytes.size(); i++) {
      hash = Mix.chain(hash, fileBytes.get(i));
    }
    long sum = Mix.mix(hash);
    for (BoundLayers bound : layers.inOrder()) {
      sum += bound.digestPart();
    }
    return sum + pool.digest();
  }

  void apply(Fact fact, TierFact tierFact, long poolBytes, Effects effects) {
    used = true;
    long position = fact.position();
    switch (tierFact) {
      case BlocksDemoted event -> demote(position, event, effects);
      case SsdWritten event -> written(position, event);
      case SsdEvicted event -> evict(position, event, effects);
      case BlocksLoading event -> loading(position, event, poolBytes);
      case BlocksLoaded event -> loaded(position, event, effects);
      case LoadFailed event -> failed(position, event, effects);
      case LayersBound event -> bind(position, event);
      case SsdTierOpened event -> open(position, event);
      case TierDegraded _ -> totals.add(SsdCounter.DEGRADED, 1);
      case TierRecovered _ -> totals.add(SsdCounter.RECOVERED, 1);
      case SsdSkipped _ -> {}
      case PoolFact event -> pool.apply(position, event, effects);
    }
  }

  // ---- the tier --------------------------------------------------------------------------------

  private void open(long position, SsdTierOpened event) {
    TierInvariants.opens(position, this, blocks, event);
    tierIdHigh = event.tierIdHigh();
    tierIdLow = event.tierIdLow();
    fileBytes = event.fileBytes();
    totals.add(SsdCounter.OPENED, 1);
  }

  private void bind(long position, LayersBound event) {
    TierInvariants.binds(position, this, registry, event);
    add(
        new BoundLayers(
            event.namespaceId(),
            event.groupId(),
            event.slice(),
            event.layers(),
            event.layerBytes()));
  }

  void add(BoundLayers bound) {
    layers.put(key(bound.namespaceId(), bound.groupId(), bound.slice()), bound);
  }

  /** The namespace is unbound. */
  void forget(BoundNamespace namespace) {
    if (layers.size() > 0) {
      for (GroupRow row : namespace.groups) {
        for (int slice = 0; slice < row.slices; slice++) {
          layers.remove(key(row.namespaceId, row.groupId, slice));
        }
      }
    }
  }

  static long key(int namespaceId, int groupId, int slice) {
    return ((long) namespaceId << 24) | ((long) groupId << 8) | slice;
  }

  // ---- to SSD ----------------------------------------------------------------------------------

  private void written(long position, SsdWritten event) {
    LongRanges ids = event.blocks();
    int column = 0;
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.writable(position, blocks, slot, id);
        for (int slice = 0; slice < blocks.slices(slot); slice++, column++) {
          TierInvariants.place(position, this, event, column, id, blocks.extentBytes(slot, slice));
          long generation = event.generations().get(column);
          nextGeneration = Math.max(nextGeneration, generation + 1);
          int file = (int) event.files().get(column);
          blocks.ssd.put(slot, slice, file, event.offsets().get(column), generation);
          totals.add(SsdCounter.WRITTEN_BYTES, blocks.extentBytes(slot, slice));
        }
      }
    }
    TierInvariants.columns(position, "SsdWritten", column, event.files().size());
    totals.add(SsdCounter.WRITTEN_BLOCKS, ids.size());
  }

  private void evict(long position, SsdEvicted event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.onSsd(position, blocks, slot, id, "dropped from SSD");
        if (blocks.state(slot) == BlockChunk.DEMOTED) {
          blocks.evict(slot, 1, effects);
        } else {
          blocks.ssd.drop(slot, effects);
        }
      }
    }
    totals.ssdEvictedBlocks.add(event.cause(), ids.size());
  }

  private void demote(long position, BlocksDemoted event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.demotable(position, blocks, slot, id);
        for (int slice = 0; slice < blocks.slices(slot); slice++) {
          blocks.freeSlice(slot, slice, effects);
        }
        blocks.demoted(slot);
      }
    }
    totals.add(SsdCounter.DEMOTED_BLOCKS, ids.size());
  }

  // ---- back ------------------------------------------------------------------------------------

  private void loading(long position, BlocksLoading event, long poolBytes) {
    LongRanges ids = event.blocks();
    int column = 0;
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.loadable(position, blocks, slot, id);
        for (int slice = 0; slice < blocks.slices(slot); slice++, column++) {
          TierInvariants.hasColumn(position, event, column);
          long offset = event.extentOffsets().get(column);
          long generation = event.extentGenerations().get(column);
          int bytes = blocks.extentBytes(slot, slice);
          if (!HostInvariants.inPool(offset, bytes, generation, poolBytes)) {
            throw HostInvariants.badExtent(position, id, offset, bytes, generation, poolBytes);
          }
          publishes.nextExtentGeneration = Math.max(publishes.nextExtentGeneration, generation + 1);
          blocks.loadSlice(slot, slice, offset, generation);
        }
        blocks.loading(slot);
        blocks.pin(slot);
      }
    }
    TierInvariants.columns(position, "BlocksLoading", column, event.extentOffsets().size());
    totals.add(SsdCounter.LOADS, 1);
  }

  private void loaded(long position, BlocksLoaded event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.isLoading(position, blocks, slot, id);
        for (int slice = 0; slice < blocks.slices(slot); slice++) {
          blocks.publishSlice(slot, slice, blocks.checksum(slot, slice));
        }
        if (blocks.state(slot) == BlockChunk.LOADING) {
          blocks.seal(slot);
        }
        blocks.unpin(slot, 1, effects);
      }
    }
    totals.add(SsdCounter.LOADED_BLOCKS, ids.size());
    totals.add(SsdCounter.LOADED_BYTES, event.bytes());
    totals.add(SsdCounter.LOAD_MICROS, event.durationMicros());
  }

  private void failed(long position, LoadFailed event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        TierInvariants.isLoading(position, blocks, slot, id);
        for (int slice = 0; slice < blocks.slices(slot); slice++) {
          blocks.freeSlice(slot, slice, effects);
        }
        if (blocks.state(slot) == BlockChunk.LOADING) {
          if (keepsCopy(event.reason())) {
            blocks.demoted(slot);
          } else {
            blocks.evict(slot, 1, effects);
          }
        }
        blocks.unpin(slot, 1, effects);
      }
    }
    totals.loadsFailed.add(event.reason(), ids.size());
  }

  private static boolean keepsCopy(LoadFailure reason) {
    return switch (reason) {
      case CANCELLED, RESTART -> true;
      case IO_ERROR, SHORT, CHECKSUM -> false;
    };
  }
}
