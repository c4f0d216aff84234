package io.orbitkv.state;

import io.orbitkv.state.HostEvent.PeerFact;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** What {@link ModelHost} knows of other hosts. */
final class ModelPeers {
  final Map<Long, List<Long>> grants = new TreeMap<>();
  final Map<Long, List<Long>> reads = new TreeMap<>();
  final List<Long> quarantined = new ArrayList<>();
  private final ModelHost host;

  ModelPeers(ModelHost host) {
    this.host = host;
  }

  void apply(PeerFact fact) {
    switch (fact) {
      case HostEvent.GrantOpened e -> grants.put(e.grantId(), ModelHost.ids(e.blocks()));
      case HostEvent.GrantClosed e -> grants.remove(e.grantId());
      case HostEvent.RemoteReadBegun e -> begin(e);
      case HostEvent.RemoteReadQuarantined e -> {
        quarantined.add(e.readId());
        for (long id : Objects.requireNonNull(reads.get(e.readId()))) {
          host.block(id).state = BlockState.EVICTED;
        }
      }
      case HostEvent.RemoteReadEnded e -> end(e);
    }
  }

  private void begin(HostEvent.RemoteReadBegun e) {
    int column = 0;
    List<Long> ids = new ArrayList<>();
    for (HostEvent.GroupRead group : e.groups()) {
      int slices = group.sliceBytes().size();
      for (int i = 0; i < group.keys().size(); i++) {
        long id = group.firstBlockId() + i;
        ModelHost.Block block =
            new ModelHost.Block(e.namespaceId(), group.groupId(), group.keys().hex(i), slices);
        for (int slice = 0; slice < slices; slice++, column++) {
          block.slice.put(
              slice,
              new ModelHost.Slice(
                  e.extentOffsets().get(column),
                  (int) group.sliceBytes().get(slice),
                  e.extentGenerations().get(column),
                  0,
                  false));
        }
        host.blocks.put(id, block);
        ids.add(id);
      }
    }
    reads.put(e.readId(), ids);
  }

  private void end(HostEvent.RemoteReadEnded e) {
    quarantined.remove(e.readId());
    List<Long> arrived = ModelHost.ids(e.arrived());
    int column = 0;
    for (long id : Objects.requireNonNull(reads.remove(e.readId()))) {
      ModelHost.Block block = host.block(id);
      if (arrived.contains(id)) {
        for (int slice = 0; slice < block.slices; slice++) {
          ModelHost.Slice old = Objects.requireNonNull(block.slice.get(slice));
          block.slice.put(
              slice,
              new ModelHost.Slice(
                  old.offset(), old.bytes(), old.generation(), e.checksums().get(column++), true));
        }
        block.state = block.state == BlockState.RESERVED ? BlockState.SEALED : block.state;
      } else {
        block.slice.values().forEach(host::free);
        block.slice.clear();
        if (block.state == BlockState.RESERVED) {
          host.blocks.remove(id);
        }
      }
    }
  }

  int pins(long id) {
    int pins = 0;
    for (List<Long> each : grants.values()) {
      pins += each.contains(id) ? 1 : 0;
    }
    for (List<Long> each : reads.values()) {
      pins += each.contains(id) ? 1 : 0;
    }
    return pins;
  }
}
