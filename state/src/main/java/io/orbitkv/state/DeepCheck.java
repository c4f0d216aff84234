package io.orbitkv.state;

import com.google.errorprone.annotations.FormatMethod;
import io.orbitkv.state.HostEvent.GroupLease;
import java.util.Arrays;
import java.util.List;

/** The walk behind {@link HostInvariants#checkDeep}; it trusts no counter and no index. */
final class DeepCheck {
  private final HostState state;
  private final BlockTable blocks;
  private final long position;

  DeepCheck(HostState state) {
    this.state = state;
    this.blocks = state.blocks;
    this.position = state.position();
  }

  void run() {
    checkBlocks();
    checkExtents();
    new TierCheck(state).run();
    checkPins();
    checkHolders();
    if (state.digest() != state.digestFromScratch()) {
      throw broken(
          "the digest kept is %016x, the digest of the state is %016x",
          state.digest(), state.digestFromScratch());
    }
  }

  private void checkBlocks() {
    long[] counted = new long[BlockChunk.STATES];
    long bytes = 0;
    long extents = 0;
    for (int slot = 0; slot < blocks.slotLimit(); slot++) {
      byte blockState = blocks.state(slot);
      if (blockState == BlockChunk.FREE) {
        require(blocks.blockId(slot) == 0, "free slot %d has block %d", slot, blocks.blockId(slot));
        continue;
      }
      counted[blockState]++;
      checkIndexes(slot);
      int published = 0;
      for (int slice = 0; slice < blocks.slices(slot); slice++) {
        if (blocks.sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
          extents++;
          bytes += blocks.extentBytes(slot, slice);
        }
        if (blocks.sliceState(slot, slice) == BlockChunk.SLICE_PUBLISHED) {
          published++;
        }
      }
      boolean whole = published == blocks.slices(slot);
      long id = blocks.blockId(slot);
      require(
          (blockState != BlockChunk.SEALED && blockState != BlockChunk.UNVERIFIED) || whole,
          "block %d is sealed with %d of %d slices",
          id,
          published,
          blocks.slices(slot));
      require(
          blockState != BlockChunk.RESERVED || !whole,
          "block %d has all %d slices and is not sealed",
          id,
          published);
      require(
          blockState != BlockChunk.UNVERIFIED || blocks.pins(slot) == 0,
          "block %d is not verified and has %d pins",
          id,
          blocks.pins(slot));
      require(
          blockState != BlockChunk.EVICTED || blocks.pins(slot) > 0,
          "block %d was evicted, is not pinned, and is still there",
          id);
      require(
          !blocks.hasNoSlice(slot) || blocks.ssd.has(slot),
          "block %d has no slice and is still there",
          id);
      require(id < state.nextBlockId(), "block %d is above the highest id", id);
    }
    for (byte kind = BlockChunk.RESERVED; kind < BlockChunk.STATES; kind++) {
      require(
          counted[kind] == blocks.blocks(kind),
          "%d blocks are in state %d, the counter says %d",
          counted[kind],
          kind,
          blocks.blocks(kind));
    }
    require(
        bytes == blocks.extentBytes() && extents == blocks.extents(),
        "%d extents have %d bytes, the counters say %d and %d",
        extents,
        bytes,
        blocks.extents(),
        blocks.extentBytes());
    long findable = 0;
    for (byte kind = BlockChunk.RESERVED; kind < BlockChunk.STATES; kind++) {
      findable += BlockChunk.findable(kind) ? counted[kind] : 0;
    }
    require(
        blocks.indexedKeys() == findable
            && blocks.indexedIds() == findable + counted[BlockChunk.EVICTED],
        "%d keys and %d ids are indexed, for %d blocks that can be found and %d evicted ones",
        blocks.indexedKeys(),
        blocks.indexedIds(),
        findable,
        counted[BlockChunk.EVICTED]);
  }

  private void checkIndexes(int slot) {
    long id = blocks.blockId(slot);
    GroupRow group = blocks.group(slot);
    require(
        state.registry.group(group.namespaceId, group.groupId) == group,
        "block %d is of namespace %d group %d, which is not bound",
        id,
        group.namespaceId,
        group.groupId);
    require(blocks.slices(slot) == group.slices, "block %d lies in a chunk of another shape", id);
    require(blocks.slotOf(id) == slot, "block %d is in slot %d, not where its id says", id, slot);
    byte[] key = new byte[blocks.keyBytes(slot)];
    blocks.copyKey(slot, key, 0);
    int found = blocks.find(group, key, 0, key.length);
    boolean evicted = blocks.state(slot) == BlockChunk.EVICTED;
    require(
        evicted ? found != slot : found == slot,
        "block %d %s be found by its key",
        id,
        evicted ? "was evicted and can still" : "cannot");
  }

  private void checkExtents() {
    int count = (int) blocks.extents();
    long[] offsets = new long[count];
    long[] ends = new long[count];
    int at = 0;
    for (int slot = 0; slot < blocks.slotLimit(); slot++) {
      if (blocks.state(slot) == BlockChunk.FREE) {
        continue;
      }
      for (int slice = 0; slice < blocks.slices(slot); slice++) {
        if (blocks.sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
          offsets[at] = blocks.offset(slot, slice);
          ends[at++] = blocks.offset(slot, slice) + blocks.extentBytes(slot, slice);
        }
      }
    }
    // Extents that do not overlap have the same order by offset and by end.
    Arrays.sort(offsets);
    Arrays.sort(ends);
    for (int i = 1; i < count; i++) {
      require(
          offsets[i] >= ends[i - 1],
          "the extent at offset %d overlaps another, which ends at %d",
          offsets[i],
          ends[i - 1]);
    }
  }

  private void checkPins() {
    int[] pins = new int[blocks.slotLimit()];
    for (OpenPublish publish : state.publishes()) {
      count(pins, publish.blocks(), "publish", publish.id());
    }
    for (OpenLease lease : state.leases()) {
      count(pins, lease.held(), "lease", lease.id());
    }
    for (OpenRestore restore : state.restores()) {
      count(pins, restore.held(), "restore", restore.id());
    }
    for (OpenGrant grant : state.grants()) {
      count(pins, grant.blocks(), "grant", grant.id());
    }
    for (OpenRemoteRead read : state.remoteReads()) {
      count(pins, read.blocks(), "remote read", read.id());
      checkExtentsOf(read);
    }
    for (int slot = 0; slot < pins.length; slot++) {
      if (blocks.state(slot) != BlockChunk.FREE) {
        pins[slot] += blocks.sliceState(slot, 0) == BlockChunk.SLICE_LOADING ? 1 : 0;
        require(
            pins[slot] == blocks.pins(slot),
            "block %d has %d pins; what is open has %d on it",
            blocks.blockId(slot),
            blocks.pins(slot),
            pins[slot]);
      }
    }
  }

  /** A remote read holds all of its extents, whatever became of its blocks. */
  private void checkExtentsOf(OpenRemoteRead read) {
    long[] bytes = new long[1];
    read.blocks()
        .forEach(
            id -> {
              int slot = blocks.slotOf(id);
              byte blockState = blocks.state(slot);
              require(
                  blockState == BlockChunk.EVICTED
                      || (blockState == BlockChunk.RESERVED && !read.quarantined()),
                  "block %d is in state %d and is being read from a peer by remote read %d",
                  id,
                  blockState,
                  read.id());
              for (int slice = 0; slice < blocks.slices(slot); slice++) {
                require(
                    blocks.sliceState(slot, slice) == BlockChunk.SLICE_RESERVED,
                    "slice %d of block %d, which remote read %d fills, is in state %d",
                    slice,
                    id,
                    read.id(),
                    blocks.sliceState(slot, slice));
                bytes[0] += blocks.extentBytes(slot, slice);
              }
            });
    require(
        bytes[0] == read.bytes(),
        "remote read %d has extents of %d bytes and %d in its account",
        read.id(),
        bytes[0],
        read.bytes());
  }

  private void count(int[] pins, List<GroupLease> held, String what, long holder) {
    for (GroupLease group : held) {
      count(pins, group.blocks(), what, holder);
    }
  }

  private void count(int[] pins, LongRanges ids, String what, long holder) {
    ids.forEach(
        id -> {
          int slot = blocks.slotOf(id);
          require(slot >= 0, "%s %d holds block %d, which is not there", what, holder, id);
          pins[slot]++;
        });
  }

  private void checkHolders() {
    int sessions = 0;
    for (KnownInstance instance : state.instances()) {
      sessions += instance.openSessions();
      require(
          state.instance(instance.name()) == instance && namespaceOf(instance) != null,
          "%s is not found by its name or has no namespace",
          instance);
    }
    require(
        sessions == state.sessions().size(),
        "instances count %d sessions, there are %d",
        sessions,
        state.sessions().size());
    int instances = 0;
    long blocksOfNamespaces = 0;
    for (BoundNamespace namespace : state.namespaces()) {
      instances += namespace.instances();
      blocksOfNamespaces += namespace.blocks();
    }
    require(
        instances == state.instances().size(),
        "namespaces count %d instances, there are %d",
        instances,
        state.instances().size());
    require(
        blocksOfNamespaces == state.liveBlocks() + state.evictedBlocks(),
        "namespaces count %d blocks, there are %d",
        blocksOfNamespaces,
        state.liveBlocks() + state.evictedBlocks());
    int[] held = new int[4];
    for (OpenSession session : state.sessions()) {
      held[0] += session.publishes();
      held[1] += session.leases();
      held[2] += session.tickets();
      held[3] += session.restores();
    }
    int[] open = {
      state.openPublishes(), state.openLeases(), state.openTickets(), state.openRestores()
    };
    require(
        Arrays.equals(held, open),
        "sessions count %s publishes, leases, tickets and restores, there are %s",
        Arrays.toString(held),
        Arrays.toString(open));
  }

  private BoundNamespace namespaceOf(KnownInstance instance) {
    return HostInvariants.namespace(position, state.registry, instance.namespaceId());
  }

  @FormatMethod
  private void require(boolean holds, String format, Object... arguments) {
    if (!holds) {
      throw broken(format, arguments);
    }
  }

  @FormatMethod
  private BrokenInvariant broken(String format, Object... arguments) {
    return HostInvariants.broken(position, format, arguments);
  }
}
