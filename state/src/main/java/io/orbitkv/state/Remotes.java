package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GrantClosed;
import io.orbitkv.state.HostEvent.GrantOpened;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.PeerFact;
import io.orbitkv.state.HostEvent.RemoteReadBegun;
import io.orbitkv.state.HostEvent.RemoteReadEnded;
import io.orbitkv.state.HostEvent.RemoteReadQuarantined;
import io.orbitkv.state.Totals.RemoteCounter;
import java.io.IOException;

/** What other hosts may read here, and what is being read from them. */
final class Remotes {
  final LongMap<OpenGrant> grants = new LongMap<>();
  final LongMap<OpenRemoteRead> reads = new LongMap<>();

  private final Registry registry;
  private final BlockTable blocks;
  private final Publishes publishes;
  private final Totals totals;

  /** Whether there was any such fact; digest and checkpoint say nothing before. */
  boolean used;

  long nextGrantId = 1;
  long nextReadId = 1;
  private long sum;

  Remotes(Registry registry, BlockTable blocks, Publishes publishes, Totals totals) {
    this.registry = registry;
    this.blocks = blocks;
    this.publishes = publishes;
    this.totals = totals;
  }

  long digest() {
    return digest(sum);
  }

  long digestFromScratch() {
    long parts = 0;
    for (OpenGrant grant : grants.inOrder()) {
      parts += grant.digestPart();
    }
    for (OpenRemoteRead read : reads.inOrder()) {
      parts += read.digestPart();
    }
    return digest(parts);
  }

  private long digest(long parts) {
    return used ? parts + Mix.mix(Mix.chain(Mix.chain(0x9EE45L, nextGrantId), nextReadId)) : 0;
  }

  void apply(Fact fact, PeerFact peerFact, long poolBytes, Effects effects) {
    used = true;
    switch (peerFact) {
      case GrantOpened event -> open(fact, event);
      case GrantClosed event -> close(fact.position(), event, effects);
      case RemoteReadBegun event -> begin(fact, event, poolBytes);
      case RemoteReadQuarantined event -> quarantine(fact.position(), event, effects);
      case RemoteReadEnded event -> end(fact.position(), event, effects);
    }
  }

  // ---- grants ----------------------------------------------------------------------------------

  private void open(Fact fact, GrantOpened event) {
    long position = fact.position();
    HostInvariants.newId(position, "grant", event.grantId(), nextGrantId);
    LongRanges ids = event.blocks();
    HostInvariants.require(ids.size() > 0, position, "grant %d is of no block", event.grantId());
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.findable(position, blocks, slot, id, "granted");
        if (blocks.state(slot) != BlockChunk.SEALED) {
          throw HostInvariants.broken(
              position, "grant %d is of block %d, which is not sealed", event.grantId(), id);
        }
        blocks.pin(slot);
      }
    }
    nextGrantId = event.grantId() + 1;
    add(
        new OpenGrant(
            event.grantId(),
            event.uuidHigh(),
            event.uuidLow(),
            event.peer(),
            ids,
            event.bytes(),
            event.expiresAtMicros(),
            position,
            fact.atMicros()));
    totals.add(RemoteCounter.GRANTS_OPENED, 1);
    totals.add(RemoteCounter.GRANTED_BLOCKS, ids.size());
    totals.add(RemoteCounter.GRANTED_BYTES, event.bytes());
  }

  private void add(OpenGrant grant) {
    grants.put(grant.id(), grant);
    sum += grant.digestPart();
  }

  private void close(long position, GrantClosed event, Effects effects) {
    OpenGrant grant =
        HostInvariants.open(
            position, "grant", event.grantId(), grants.remove(event.grantId()), nextGrantId);
    sum -= grant.digestPart();
    LongRanges ids = grant.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "grant", grant.id());
        blocks.unpin(slot, 1, effects);
      }
    }
    totals.add(RemoteCounter.GRANT_READS, event.reads());
    totals.grantsClosed.add(event.reason(), 1);
  }

  // ---- reads -----------------------------------------------------------------------------------

  private void begin(Fact fact, RemoteReadBegun event, long poolBytes) {
    long position = fact.position();
    HostInvariants.newId(position, "remote read", event.readId(), nextReadId);
    HostInvariants.namespace(position, registry, event.namespaceId());
    HostInvariants.require(
        event.extentOffsets().size() == event.extentGenerations().size(),
        position,
        "remote read %d has %d extent offsets and %d generations",
        event.readId(),
        event.extentOffsets().size(),
        event.extentGenerations().size());
    LongRanges.Builder ids = new LongRanges.Builder();
    long bytes = 0;
    int column = 0;
    for (GroupRead read : event.groups()) {
      GroupRow group =
          HostInvariants.group(position, registry, event.namespaceId(), read.groupId());
      RemoteInvariants.readable(position, event, read, group, column, publishes.nextBlockId);
      publishes.nextBlockId = read.firstBlockId() + read.keys().size();
      for (int i = 0; i < read.keys().size(); i++) {
        long id = read.firstBlockId() + i;
        int slot = create(position, group, read.keys(), i, id);
        for (int slice = 0; slice < group.slices; slice++, column++) {
          long offset = event.extentOffsets().get(column);
          long generation = event.extentGenerations().get(column);
          int length = (int) read.sliceBytes().get(slice);
          if (!HostInvariants.inPool(offset, length, generation, poolBytes)) {
            throw HostInvariants.badExtent(position, id, offset, length, generation, poolBytes);
          }
          publishes.nextExtentGeneration = Math.max(publishes.nextExtentGeneration, generation + 1);
          blocks.reserveSlice(slot, slice, offset, generation, length);
          bytes += length;
        }
        blocks.pin(slot);
        ids.add(id);
      }
    }
    TierInvariants.columns(position, "RemoteReadBegun", column, event.extentOffsets().size());
    nextReadId = event.readId() + 1;
    add(
        new OpenRemoteRead(
            event.readId(),
            event.owner(),
            event.namespaceId(),
            ids.build(),
            bytes,
            event.ticketId(),
            event.forSessionId(),
            event.forRequest(),
            false,
            position,
            fact.atMicros()));
    totals.add(RemoteCounter.READS_BEGUN, 1);
  }

  private int create(long position, GroupRow group, Keys keys, int key, long id) {
    int offset = keys.offset(key);
    int holder = blocks.find(group, keys.packed(), offset, keys.keyBytes());
    if (holder >= 0) {
      throw HostInvariants.broken(
          position,
          "block %d is read from a peer and has the key of block %d, which can be found",
          id,
          blocks.blockId(holder));
    }
    return blocks.create(group, id, keys.packed(), offset, keys.keyBytes(), position);
  }

  private void add(OpenRemoteRead read) {
    reads.put(read.id(), read);
    sum += read.digestPart();
  }

  private OpenRemoteRead take(long position, long readId) {
    OpenRemoteRead read =
        HostInvariants.open(position, "remote read", readId, reads.remove(readId), nextReadId);
    sum -= read.digestPart();
    return read;
  }

  private void quarantine(long position, RemoteReadQuarantined event, Effects effects) {
    OpenRemoteRead read = take(position, event.readId());
    HostInvariants.require(
        !read.quarantined(), position, "remote read %d is in quarantine already", read.id());
    LongRanges ids = read.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "remote read", read.id());
        if (blocks.state(slot) != BlockChunk.EVICTED) {
          blocks.evict(slot, 1, effects);
        }
      }
    }
    add(read.inQuarantine());
    totals.add(RemoteCounter.QUARANTINES, 1);
  }

  private void end(long position, RemoteReadEnded event, Effects effects) {
    OpenRemoteRead read = take(position, event.readId());
    LongRanges arrived = event.arrived();
    HostInvariants.require(
        !read.quarantined() || arrived.isEmpty(),
        position,
        "remote read %d ended with %d blocks after it was in quarantine",
        read.id(),
        arrived.size());
    LongRanges ids = read.blocks();
    int column = 0;
    int next = 0;
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "remote read", read.id());
        if (next < arrived.size() && arrived.idAt(next) == id) {
          next++;
          RemoteInvariants.hasChecksums(position, event, column + blocks.slices(slot));
          for (int slice = 0; slice < blocks.slices(slot); slice++) {
            blocks.publishSlice(slot, slice, event.checksums().get(column++));
          }
          if (blocks.state(slot) == BlockChunk.RESERVED) {
            blocks.seal(slot);
          }
          blocks.unpin(slot, 1, effects);
        } else {
          giveUp(slot, effects);
        }
      }
    }
    HostInvariants.require(
        next == arrived.size(),
        position,
        "%d of %d arrived blocks are not of remote read %d, or not in its order",
        arrived.size() - next,
        arrived.size(),
        read.id());
    TierInvariants.columns(position, "RemoteReadEnded", column, event.checksums().size());
    totals.add(RemoteCounter.READS_ENDED, 1);
    totals.add(RemoteCounter.FETCHED_BLOCKS, arrived.size());
    totals.add(RemoteCounter.FETCHED_BYTES, event.bytes());
    totals.add(RemoteCounter.FETCH_MICROS, event.durationMicros());
    totals.fetchesFailed.add(event.failure(), ids.size() - (long) arrived.size());
  }

  /** A block that did not come: nothing of it stays. */
  private void giveUp(int slot, Effects effects) {
    for (int slice = 0; slice < blocks.slices(slot); slice++) {
      blocks.freeSlice(slot, slice, effects);
    }
    boolean reserved = blocks.state(slot) == BlockChunk.RESERVED;
    blocks.unpin(slot, 1, effects);
    if (reserved) {
      blocks.forget(slot);
    }
  }

  // ---- checkpoint ------------------------------------------------------------------------------

  void writeTo(FrameWriter to) throws IOException {
    HostSnapshot.writeSections(totals.remoteSections(), to);
    to.varint(nextGrantId);
    to.varint(nextReadId);
    to.varint(grants.size());
    for (OpenGrant grant : grants.inOrder()) {
      to.varint(grant.id());
      to.fixed(grant.uuidHigh());
      to.fixed(grant.uuidLow());
      writePeer(grant.peer(), to);
      to.ranges(grant.blocks());
      to.varint(grant.bytes());
      to.fixed(grant.expiresAtMicros());
      to.varint(grant.position());
      to.fixed(grant.atMicros());
    }
    to.varint(reads.size());
    for (OpenRemoteRead read : reads.inOrder()) {
      to.varint(read.id());
      writePeer(read.owner(), to);
      to.varint(read.namespaceId());
      to.ranges(read.blocks());
      to.varint(read.bytes());
      to.varint(read.ticketId());
      to.varint(read.forSessionId());
      to.text(read.forRequest());
      to.octet(read.quarantined() ? 1 : 0);
      to.varint(read.position());
      to.fixed(read.atMicros());
    }
  }

  void readFrom(FrameReader from) throws IOException {
    used = true;
    HostSnapshot.readSections(totals.remoteSections(), from);
    nextGrantId = from.varint();
    nextReadId = from.varint();
    for (int left = from.varint32(); left > 0; left--) {
      add(
          new OpenGrant(
              from.varint(),
              from.fixed(),
              from.fixed(),
              readPeer(from),
              from.ranges(),
              from.varint(),
              from.fixed(),
              from.varint(),
              from.fixed()));
    }
    for (int left = from.varint32(); left > 0; left--) {
      add(
          new OpenRemoteRead(
              from.varint(),
              readPeer(from),
              from.varint32(),
              from.ranges(),
              from.varint(),
              from.varint(),
              from.varint(),
              from.text(),
              from.octet() != 0,
              from.varint(),
              from.fixed()));
    }
  }

  private static void writePeer(PeerId peer, FrameWriter to) throws IOException {
    to.text(peer.node());
    to.fixed(peer.runtimeHigh());
    to.fixed(peer.runtimeLow());
  }

  private static PeerId readPeer(FrameReader from) throws IOException {
    return new PeerId(from.text(), from.fixed(), from.fixed());
  }
}
