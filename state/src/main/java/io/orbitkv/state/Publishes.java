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

  /** Whether {@link #digest} is kept; if not it is computed when somebody asks. */
  private boolean summing = true;

  Publishes(Registry registry, BlockTable blocks, Totals totals) {
    this.registry = registry;
    this.blocks = blocks;
    this.totals = totals;
  }

  long digest() {
    if (!summing) {
      digest = digestFromScratch();
      summing = true;
    }
    return digest;
  }

  /** Stops keeping the digest until somebody asks for it. */
  void deferDigest() {
    summing = false;
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
    int fresh = 0;
    int ordinal = 0;
    int neighbour = -1;
    checkExtents(position, event, poolBytes);
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; ) {
        int left = (int) (end - id);
        if (fresh < event.newKeys().size() && id == event.firstNewBlockId() + fresh) {
          int count = Math.min(left, event.newKeys().size() - fresh);
          create(position, group, event, fresh, count, ordinal);
          fresh += count;
          ordinal += count;
          id += count;
        } else {
          neighbour = join(position, group, event, id, ordinal, neighbour);
          ordinal++;
          id++;
        }
      }
    }
    if (fresh != event.newKeys().size()) {
      throw HostInvariants.broken(
          position,
          "publish %d has %d new keys but %d new blocks in ascending order from %d",
          event.publishId(),
          event.newKeys().size(),
          fresh,
          event.firstNewBlockId());
    }
  }

  private void checkExtents(long position, SlicesReserved event, long poolBytes) {
    Longs offsets = event.extentOffsets();
    Longs generations = event.extentGenerations();
    long highest = 0;
    for (int i = 0; i < offsets.size(); i++) {
      long generation = generations.get(i);
      highest = Math.max(highest, generation);
      if (!HostInvariants.inPool(offsets.get(i), event.extentBytes(), generation, poolBytes)) {
        throw HostInvariants.badExtent(
            position,
            event.blocks().idAt(i),
            offsets.get(i),
            event.extentBytes(),
            generation,
            poolBytes);
      }
    }
    nextExtentGeneration = Math.max(nextExtentGeneration, highest + 1);
  }

  private void create(
      long position, GroupRow group, SlicesReserved event, int fresh, int count, int ordinal) {
    int slice = group.slice(event.shard());
    for (int done = 0; done < count; ) {
      int batch = Math.min(BlockTable.BATCH, count - done);
      int made =
          blocks.createReserved(
              group,
              event.firstNewBlockId() + fresh + done,
              event.newKeys(),
              fresh + done,
              batch,
              position,
              slice,
              event.extentOffsets(),
              event.extentGenerations(),
              ordinal + done,
              event.extentBytes());
      done += made;
      if (made < batch) {
        Keys keys = event.newKeys();
        int at = keys.offset(fresh + done);
        int holder = blocks.find(group, keys.packed(), at, keys.keyBytes());
        throw HostInvariants.broken(
            position,
            "block %d has the key of block %d, which can still be found",
            event.firstNewBlockId() + fresh + done,
            blocks.blockId(holder));
      }
    }
  }

  /** Sets a slice aside in a block that another shard began; returns its slot. */
  private int join(
      long position, GroupRow group, SlicesReserved event, long id, int ordinal, int neighbour) {
    int slice = group.slice(event.shard());
    int slot = blocks.slotOf(id, neighbour);
    HostInvariants.joinable(position, blocks, slot, id, group, slice);
    blocks.reserveSlice(
        slot,
        slice,
        event.extentOffsets().get(ordinal),
        event.extentGenerations().get(ordinal),
        event.extentBytes());
    blocks.pin(slot);
    return slot;
  }

  void add(OpenSession session, OpenPublish publish) {
    session.publishes++;
    open.put(publish.id(), publish);
    digest += summing ? publish.digestPart() : 0;
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
    long sealedBefore = blocks.blocks(BlockChunk.SEALED);
    int ordinal = 0;
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; ) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "publish", publish.id());
        int count = blocks.neighbours(slot, id, (int) (end - id));
        int done = blocks.publish(slot, count, slice, event.checksums(), ordinal, effects);
        ordinal += done;
        id += done;
        slot += done - 1;
      }
    }
    totals.add(Counter.SEALED_BLOCKS, blocks.blocks(BlockChunk.SEALED) - sealedBefore);
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
        blocks.unpin(slot, 1, effects);
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
      for (long id = ids.first(run); id < end; ) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.findable(position, blocks, slot, id, "evicted");
        int done = blocks.evict(slot, blocks.neighbours(slot, id, (int) (end - id)), effects);
        id += done;
        slot += done - 1;
      }
    }
    totals.evictedBlocks.add(event.cause(), ids.size());
  }

  private OpenPublish close(long position, long publishId) {
    OpenPublish publish =
        HostInvariants.open(position, "publish", publishId, open.remove(publishId), nextPublishId);
    HostInvariants.session(position, registry, publish.sessionId()).publishes--;
    digest -= summing ? publish.digestPart() : 0;
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
