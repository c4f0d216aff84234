package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.PublishAborted;
import io.orbitkv.state.HostEvent.SlicesPublished;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.Totals.Counter;

/** How blocks come and go: reservation, publish, abort, eviction. */
final class Publishes {
  final LongMap<OpenPublish> open = new LongMap<>();

  private final Registry registry;
  private final BlockTable blocks;
  private final Totals totals;

  long nextPublishId = 1;
  long nextBlockId = 1;
  long nextExtentGeneration = 1;
  private long digest;

  Publishes(Registry registry, BlockTable blocks, Totals totals) {
    this.registry = registry;
    this.blocks = blocks;
    this.totals = totals;
  }

  long digest() {
    return digest;
  }

  void reserve(Fact fact, SlicesReserved event, long poolBytes) {
    long position = fact.position();
    HostInvariants.newId(position, "publish", event.publishId(), nextPublishId);
    OpenSession session = HostInvariants.live(position, registry, event.sessionId());
    GroupRow group =
        HostInvariants.group(position, registry, session.namespaceId(), event.groupId());
    HostInvariants.columns(position, event, session, group);
    int fresh = event.newKeys().size();
    if (fresh > 0) {
      HostInvariants.newId(position, "block", event.firstNewBlockId(), nextBlockId);
      nextBlockId = event.firstNewBlockId() + fresh;
    }
    nextPublishId = event.publishId() + 1;
    reserveSlices(position, event, group, poolBytes);
    add(
        session,
        new OpenPublish(
            event.publishId(),
            event.sessionId(),
            event.request(),
            session.namespaceId(),
            event.groupId(),
            event.shard(),
            event.blocks(),
            event.extentBytes(),
            position,
            fact.atMicros()));
    totals.add(Counter.PUBLISHES_BEGUN, 1);
    totals.add(Counter.RESERVED_BLOCKS, fresh);
  }

  private void reserveSlices(long position, SlicesReserved event, GroupRow group, long poolBytes) {
    LongRanges ids = event.blocks();
    Keys keys = event.newKeys();
    int slice = group.slice(event.shard());
    int fresh = 0;
    int ordinal = 0;
    int neighbour = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++, ordinal++) {
        int slot;
        if (fresh < keys.size() && id == event.firstNewBlockId() + fresh) {
          slot = create(position, group, id, keys, fresh++);
        } else {
          slot = blocks.slotOf(id, neighbour);
          HostInvariants.joinable(position, blocks, slot, id, group, slice);
        }
        long offset = event.extentOffsets().get(ordinal);
        long generation = event.extentGenerations().get(ordinal);
        HostInvariants.extent(position, id, offset, event.extentBytes(), generation, poolBytes);
        nextExtentGeneration = Math.max(nextExtentGeneration, generation + 1);
        blocks.reserveSlice(slot, slice, offset, generation, event.extentBytes());
        blocks.pin(slot);
        neighbour = slot;
      }
    }
    if (fresh != keys.size()) {
      throw HostInvariants.broken(
          position,
          "publish %d has %d new keys but %d new blocks in ascending order from %d",
          event.publishId(),
          keys.size(),
          fresh,
          event.firstNewBlockId());
    }
  }

  private int create(long position, GroupRow group, long id, Keys keys, int index) {
    byte[] packed = keys.packed();
    int offset = keys.offset(index);
    int holder = blocks.find(group, packed, offset, keys.keyBytes());
    if (holder >= 0) {
      throw HostInvariants.broken(
          position,
          "block %d has the key of block %d, which can still be found",
          id,
          blocks.blockId(holder));
    }
    return blocks.create(group, id, packed, offset, keys.keyBytes(), position);
  }

  void add(OpenSession session, OpenPublish publish) {
    session.publishes++;
    open.put(publish.id(), publish);
    digest += publish.digestPart();
  }

  void publish(long position, SlicesPublished event, Effects effects) {
    OpenPublish publish = close(position, event.publishId());
    if (event.checksums().size() != publish.blocks().size()) {
      throw HostInvariants.broken(
          position,
          "publish %d has %d blocks but %d checksums",
          publish.id(),
          publish.blocks().size(),
          event.checksums().size());
    }
    LongRanges ids = publish.blocks();
    int slice = slice(position, publish);
    int ordinal = 0;
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++, ordinal++) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "publish", publish.id());
        boolean complete = blocks.publishSlice(slot, slice, event.checksums().get(ordinal));
        if (complete && blocks.state(slot) == BlockChunk.RESERVED) {
          blocks.seal(slot);
          totals.add(Counter.SEALED_BLOCKS, 1);
        }
        blocks.unpin(slot, effects);
      }
    }
    totals.add(Counter.PUBLISHES_DONE, 1);
    totals.add(Counter.PUBLISHED_SLICES, ids.size());
    totals.add(Counter.PUBLISHED_BYTES, (long) ids.size() * publish.extentBytes());
  }

  void abort(long position, PublishAborted event, Effects effects) {
    OpenPublish publish = close(position, event.publishId());
    LongRanges ids = publish.blocks();
    int slice = slice(position, publish);
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "publish", publish.id());
        blocks.freeSlice(slot, slice, effects);
        boolean forgotten = blocks.state(slot) == BlockChunk.RESERVED && blocks.hasNoSlice(slot);
        blocks.unpin(slot, effects);
        if (forgotten) {
          blocks.forget(slot);
          totals.add(Counter.ABORTED_BLOCKS, 1);
        }
      }
    }
    totals.publishesAborted.add(event.reason(), 1);
  }

  void evict(long position, BlocksEvicted event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.findable(position, blocks, slot, id, "evicted");
        blocks.evict(slot, effects);
      }
    }
    totals.evictedBlocks.add(event.cause(), ids.size());
  }

  private OpenPublish close(long position, long publishId) {
    OpenPublish publish =
        HostInvariants.open(position, "publish", publishId, open.remove(publishId), nextPublishId);
    HostInvariants.session(position, registry, publish.sessionId()).publishes--;
    digest -= publish.digestPart();
    return publish;
  }

  private int slice(long position, OpenPublish publish) {
    return HostInvariants.group(position, registry, publish.namespaceId(), publish.groupId())
        .slice(publish.shard());
  }

  long digestFromScratch() {
    long sum = 0;
    for (OpenPublish publish : open.inOrder()) {
      sum += publish.digestPart();
    }
    return sum;
  }
}
