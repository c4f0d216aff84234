package io.orbitkv.state;

import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.TierFact;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The SSD tier's part of {@link ModelHost}. */
final class ModelTier {
  record Copy(long file, long offset, long generation, int bytes, long checksum) {}

  private final ModelHost host;

  ModelTier(ModelHost host) {
    this.host = host;
  }

  void apply(TierFact fact) {
    switch (fact) {
      case HostEvent.SsdTierOpened _,
          HostEvent.LayersBound _,
          HostEvent.TierDegraded _,
          HostEvent.TierRecovered _,
          HostEvent.SsdSkipped _,
          HostEvent.PoolOpened _ -> {}
      case HostEvent.BlocksKept e ->
          ModelHost.ids(e.blocks()).forEach(id -> host.block(id).state = BlockState.UNVERIFIED);
      case HostEvent.BlocksAdopted e ->
          ModelHost.ids(e.blocks()).forEach(id -> host.block(id).state = BlockState.SEALED);
      case HostEvent.BlocksNotAdopted e -> {
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          if (block.ssd.isEmpty()) {
            block.state = BlockState.EVICTED;
          } else {
            freeSlices(block);
            block.state = BlockState.DEMOTED;
          }
        }
      }
      case HostEvent.SsdWritten e -> {
        int column = 0;
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          for (Map.Entry<Integer, ModelHost.Slice> slice : block.slice.entrySet()) {
            block.ssd.put(
                slice.getKey(),
                new Copy(
                    e.files().get(column),
                    e.offsets().get(column),
                    e.generations().get(column++),
                    slice.getValue().bytes(),
                    slice.getValue().checksum()));
          }
        }
      }
      case HostEvent.SsdEvicted e -> {
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          freeCopy(block);
          if (block.state == BlockState.DEMOTED) {
            block.state = BlockState.EVICTED;
          }
        }
      }
      case HostEvent.BlocksDemoted e -> {
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          freeSlices(block);
          block.state = BlockState.DEMOTED;
        }
      }
      case HostEvent.BlocksLoading e -> {
        int column = 0;
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          for (Map.Entry<Integer, Copy> copy : block.ssd.entrySet()) {
            block.slice.put(
                copy.getKey(),
                new ModelHost.Slice(
                    e.extentOffsets().get(column),
                    copy.getValue().bytes,
                    e.extentGenerations().get(column++),
                    copy.getValue().checksum,
                    false));
          }
          block.loading = true;
          block.state = BlockState.LOADING;
        }
      }
      case HostEvent.BlocksLoaded e -> {
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          block.loading = false;
          for (Map.Entry<Integer, ModelHost.Slice> slice : new TreeMap<>(block.slice).entrySet()) {
            ModelHost.Slice old = slice.getValue();
            block.slice.put(
                slice.getKey(),
                new ModelHost.Slice(
                    old.offset(), old.bytes(), old.generation(), old.checksum(), true));
          }
          if (block.state == BlockState.LOADING) {
            block.state = BlockState.SEALED;
          }
        }
      }
      case HostEvent.LoadFailed e -> {
        for (long id : ModelHost.ids(e.blocks())) {
          ModelHost.Block block = host.block(id);
          block.loading = false;
          freeSlices(block);
          boolean keeps = List.of(LoadFailure.CANCELLED, LoadFailure.RESTART).contains(e.reason());
          if (block.state == BlockState.LOADING) {
            block.state = keeps ? BlockState.DEMOTED : BlockState.EVICTED;
          }
        }
      }
    }
  }

  void freeCopy(ModelHost.Block block) {
    block.ssd.values().forEach(copy -> host.freed.add(text(copy)));
    block.ssd.clear();
  }

  private void freeSlices(ModelHost.Block block) {
    block.slice.values().forEach(host::free);
    block.slice.clear();
  }

  private static String text(Copy copy) {
    return "ssd " + copy.file + "@" + copy.offset + "+" + copy.bytes + " gen " + copy.generation;
  }
}
