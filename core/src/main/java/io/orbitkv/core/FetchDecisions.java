package io.orbitkv.core;

import io.orbitkv.core.Command.Query;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.PeerHope.Page;
import io.orbitkv.core.QueryEvidence.Reach;
import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.remote.GrantFormat;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.RemoteCandidate;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.state.BlockState;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostEvent.RemoteReadBegun;
import io.orbitkv.state.HostEvent.RemoteReadEnded;
import io.orbitkv.state.HostEvent.RemoteReadQuarantined;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.PeerId;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.state.recovery.GroupRange;
import io.orbitkv.state.recovery.RecoveryDemand;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Brings blocks that nobody on this host has from other hosts, for queries that wait. First who may
 * have them is asked; then memory is set aside and the read is a fact, so that others who want the
 * same blocks wait for the same read. From there on such a block is like one that an engine is
 * publishing, and sealed when its bytes have come and have their sum.
 *
 * <p>A read that has failed while bytes may still come goes into quarantine: whoever waits for it
 * goes on without, and its memory stays as it is until the proof that nothing comes any more.
 */
final class FetchDecisions {
  /** The most keys of one lookup, and the most blocks of one grant. */
  private static final int MAX_KEYS = 4_096;

  private static final PeerHope.Page[] NO_PAGES = {};

  private final Host host;
  private final LivePeers peers;
  private final EvictionDecisions evictions;
  private final TicketBook book;
  private final @Nullable TierDecisions tier;

  FetchDecisions(
      Host host,
      LivePeers peers,
      EvictionDecisions evictions,
      TicketBook book,
      @Nullable TierDecisions tier) {
    this.host = host;
    this.peers = peers;
    this.evictions = evictions;
    this.book = book;
    this.tier = tier;
  }

  // ---- who has them
  // ------------------------------------------------------------------------------------------------

  /** Whether others may make a query's boundary longer than this host can. */
  boolean worthAsking(Query query, QueryEvidence evidence, LiveNamespace namespace) {
    return (query.mode() == QueryMode.WAIT || query.mode() == QueryMode.PREPARE)
        && !host.draining
        && namespace.whole()
        && peers.lookups.size() < peers.settings.maxLookups()
        && evidence.boundaries(Reach.COMING).last().orElse(evidence.startToken())
            < evidence.endToken()
        && peers.blocks.open();
  }

  /** Asks who has what a query lacks; false if nobody can be asked now. */
  boolean ask(LiveTicket ticket, QueryEvidence evidence) {
    List<Page> pages = new ArrayList<>();
    List<StateKey> keys = new ArrayList<>();
    LiveNamespace namespace = ticket.session.namespace();
    for (int g = 0; g < evidence.groupCount(); g++) {
      Keys of = evidence.keys(g);
      int to = evidence.ordinal(g, evidence.endToken());
      for (int ordinal = 0; ordinal < to && keys.size() < MAX_KEYS; ordinal++) {
        if (!evidence.findablePage(g, ordinal)) {
          pages.add(new Page(g, ordinal));
          keys.add(key(namespace, evidence.groupId(g), of, ordinal));
        }
      }
    }
    RemoteLookup lookup =
        new RemoteLookup(peers.nextLookupId++, keys, peers.settings.lookupMillis());
    if (keys.isEmpty() || !peers.blocks.lookup(lookup)) {
      return false;
    }
    peers.lookups.put(lookup.id(), ticket);
    ticket.lookupId = lookup.id();
    ticket.hope = new PeerHope(lookup, List.copyOf(pages));
    return true;
  }

  private static StateKey key(LiveNamespace namespace, int groupId, Keys keys, int at) {
    return new StateKey(
        namespace.name, groupId, BlockHash.read(keys.packed(), keys.offset(at), keys.keyBytes()));
  }

  /** A lookup is over; the ticket that asked, null if it has ended. */
  @Nullable LiveTicket answered(RemoteLookup lookup) {
    LiveTicket ticket = peers.lookups.remove(lookup.id());
    if (ticket != null) {
      ticket.lookupId = 0;
    }
    return ticket;
  }

  /** The ticket ends. */
  void forget(LiveTicket ticket) {
    if (ticket.lookupId != 0) {
      peers.lookups.remove(ticket.lookupId);
      ticket.lookupId = 0;
    }
  }

  /** Lets reads go that nobody waits for any more; what is under way may still arrive. */
  void stop(LiveTicket ticket) {
    for (LiveFetch fetch : ticket.fetches) {
      boolean awaited = false;
      for (long blockId : fetch.blockIds) {
        awaited |= book.isAwaited(blockId);
      }
      if (!awaited) {
        fetch.read.stop();
      }
    }
  }

  /** Lets all reads go. */
  void stopAll() {
    peers.fetches.values().forEach(fetch -> fetch.read.stop());
  }

  // ---- the plan
  // ----------------------------------------------------------------------------------------------------

  /** What is to be read from one owner, by group. */
  private static final class Part {
    final Map<Integer, List<Page>> pages = new TreeMap<>();
    final Map<Page, RemoteCandidate> candidates = new java.util.HashMap<>();
    long bytes;
    int slices;

    void add(Page page, RemoteCandidate candidate, long blockBytes, int blockSlices) {
      pages.computeIfAbsent(page.group(), _ -> new ArrayList<>()).add(page);
      candidates.put(page, candidate);
      bytes += blockBytes;
      slices += blockSlices;
    }

    int blocks() {
      return candidates.size();
    }
  }

  /** Begins to read what makes the ticket's boundary longer. The evidence is stale from here on. */
  void begin(LiveTicket ticket, QueryEvidence evidence) {
    PeerHope hope = ticket.hope;
    if (hope == null || ticket.lookupId != 0 || host.draining || !peers.blocks.open()) {
      return;
    }
    Map<PeerRun, Integer> owners = hope.owners();
    if (owners.isEmpty() || !hope.mayPlan()) {
      return;
    }
    Map<String, Part> parts = plan(ticket, evidence, hope, owners);
    if (parts.isEmpty()) {
      return;
    }
    int blocks = 0;
    for (Part part : parts.values()) {
      blocks += part.blocks();
      PeerRun owner = part.candidates.values().iterator().next().owner();
      if (!peers.fetching.fits(
          owner.node(),
          part.bytes,
          peers.settings.maxFetchBytes(),
          peers.settings.maxFetchBytesPerPeer())) {
        peers.refusedFetches++;
        return;
      }
    }
    long columns = (long) blocks * (4L * Host.BLOCK_COLUMN_BYTES + Keys.MAX_KEY_BYTES);
    if (!host.hasRoom(4 + 4 * parts.size(), columns)) {
      peers.refusedFetches++;
      return;
    }
    for (Part part : parts.values()) {
      begin(ticket, evidence, part);
    }
  }

  private Map<String, Part> plan(
      LiveTicket ticket, QueryEvidence evidence, PeerHope hope, Map<PeerRun, Integer> owners) {
    BitSet[] offered = new BitSet[evidence.groupCount()];
    for (int g = 0; g < offered.length; g++) {
      offered[g] = new BitSet();
    }
    for (Page page : hope.pages()) {
      if (hope.best(page, owners) != null) {
        offered[page.group()].set(page.ordinal());
      }
    }
    int here = evidence.boundaries(Reach.COMING).last().orElse(evidence.startToken());
    int possible = evidence.boundariesWith(offered).last().orElse(evidence.startToken());
    Map<String, Part> parts = new TreeMap<>();
    if (possible <= here) {
      return parts;
    }
    LiveNamespace namespace = ticket.session.namespace();
    RecoveryDemand demand = evidence.demand(possible);
    for (int g = 0; g < evidence.groupCount(); g++) {
      GroupRange range = demand.ranges().get(g);
      KeySet seen = new KeySet(evidence.keys(g));
      int to = evidence.ordinal(g, range.end());
      for (int ordinal = evidence.ordinal(g, range.start()); ordinal < to; ordinal++) {
        Page page = new Page(g, ordinal);
        RemoteCandidate candidate =
            evidence.findablePage(g, ordinal) ? null : hope.best(page, owners);
        if (candidate != null && seen.add(ordinal)) {
          String owner = candidate.owner().node() + "/" + candidate.owner().runtime();
          parts
              .computeIfAbsent(owner, _ -> new Part())
              .add(page, candidate, namespace.blockBytes(g), namespace.slices(g));
        }
      }
    }
    return parts;
  }

  private Extent @Nullable [] reserve(LiveTicket ticket, Part part) {
    LiveNamespace namespace = ticket.session.namespace();
    Extent[] extents = new Extent[part.slices];
    int at = 0;
    for (Map.Entry<Integer, List<Page>> group : part.pages.entrySet()) {
      for (int block = 0; block < group.getValue().size(); block++) {
        for (int slice = 0; slice < namespace.slices(group.getKey()); slice++) {
          int bytes = namespace.sliceExtentBytes(group.getKey(), slice);
          Extent extent = host.extents.allocate(bytes);
          while (extent == null
              && evictions.makeRoom(bytes, ticket.session.id, ticket.query.request())) {
            extent = host.extents.allocate(bytes);
          }
          if (extent == null) {
            for (int taken = 0; taken < at; taken++) {
              host.extents.free(extents[taken].offset(), extents[taken].bytes());
            }
            peers.refusedFetches++;
            return null;
          }
          extents[at++] = extent;
        }
      }
    }
    return extents;
  }

  private void begin(LiveTicket ticket, QueryEvidence evidence, Part part) {
    Extent[] extents = reserve(ticket, part);
    if (extents == null) {
      return;
    }
    LiveNamespace namespace = ticket.session.namespace();
    long[] offsets = new long[extents.length];
    long[] generations = new long[extents.length];
    long[] blockIds = new long[part.blocks()];
    List<GroupRead> groups = new ArrayList<>();
    List<RemoteRead.Block> blocks = new ArrayList<>();
    List<Page> pages = new ArrayList<>();
    long nextId = host.state.nextBlockId();
    int at = 0;
    for (Map.Entry<Integer, List<Page>> group : part.pages.entrySet()) {
      int g = group.getKey();
      Keys keys = evidence.keys(g);
      int count = group.getValue().size();
      byte[] packed = new byte[count * keys.keyBytes()];
      long firstId = nextId;
      for (int i = 0; i < count; i++) {
        Page page = group.getValue().get(i);
        System.arraycopy(
            keys.packed(),
            keys.offset(page.ordinal()),
            packed,
            i * keys.keyBytes(),
            keys.keyBytes());
        List<RemoteRead.Slice> slices = new ArrayList<>();
        for (int slice = 0; slice < namespace.slices(g); slice++, at++) {
          offsets[at] = extents[at].offset();
          generations[at] = extents[at].generation();
          slices.add(
              new RemoteRead.Slice(
                  extents[at].offset(),
                  namespace.contentBytes(g, slice),
                  namespace.shape(g, slice)));
        }
        RemoteCandidate candidate = part.candidates.get(page);
        if (candidate == null) {
          throw new IllegalStateException("no candidate for " + page);
        }
        blockIds[blocks.size()] = nextId++;
        pages.add(page);
        blocks.add(
            new RemoteRead.Block(
                key(namespace, evidence.groupId(g), keys, page.ordinal()),
                candidate.tier(),
                candidate.generation(),
                slices));
      }
      groups.add(
          new GroupRead(
              evidence.groupId(g),
              firstId,
              Keys.ofPacked(keys.keyBytes(), packed),
              namespace.sliceExtentBytes(g)));
    }
    PeerRun owner = part.candidates.values().iterator().next().owner();
    long readId = host.state.nextRemoteReadId();
    host.emit(
        new RemoteReadBegun(
            readId,
            id(owner),
            namespace.id,
            List.copyOf(groups),
            Longs.of(offsets),
            Longs.of(generations),
            ticket.id,
            ticket.session.id,
            ticket.query.request()));
    RemoteRead read =
        new RemoteRead(
            readId,
            owner,
            GrantFormat.of(namespace.format, namespace.shardCount),
            blocks,
            host.pool,
            peers.settings.readMillis());
    LiveFetch fetch =
        new LiveFetch(
            read, blockIds, ticket, part.bytes, part.slices, host.clock.monotonicMicros());
    fetch.pages = pages.toArray(NO_PAGES);
    peers.fetches.put(readId, fetch);
    peers.fetching.add(owner.node(), part.bytes);
    host.blocksInCopy += part.slices;
    ticket.fetches.add(fetch);
    host.timers.arm(fetch, host.deadline(peers.settings.readMillis()));
    if (!peers.blocks.read(read)) {
      read.failed(RemoteFailure.OVERLOADED, "too many reads are under way");
      ended(read);
    }
  }

  static PeerId id(PeerRun run) {
    return new PeerId(
        run.node().text(),
        run.runtime().getMostSignificantBits(),
        run.runtime().getLeastSignificantBits());
  }

  // ---- the end of a read
  // -------------------------------------------------------------------------------------------

  /** A read must have ended by now and has not. */
  void due(LiveFetch fetch) {
    quarantine(fetch, RemoteFailure.DEADLINE, "no end after its time");
  }

  /** A read has failed, and bytes may still come. */
  void failed(RemoteRead read) {
    LiveFetch fetch = peers.fetches.get(read.id());
    if (fetch != null) {
      RemoteFailure failure = read.failure();
      quarantine(fetch, failure == null ? RemoteFailure.DEADLINE : failure, read.detail());
    }
  }

  private void quarantine(LiveFetch fetch, RemoteFailure reason, String detail) {
    if (fetch.quarantined) {
      return;
    }
    fetch.quarantined = true;
    host.timers.cancel(fetch);
    fetch.read.stop();
    host.emit(new RemoteReadQuarantined(fetch.read.id(), reason, detail));
    for (int block = 0; block < fetch.blockIds.length; block++) {
      exclude(fetch, block);
      book.settled(fetch.blockIds[block]);
    }
  }

  private static void exclude(LiveFetch fetch, int block) {
    PeerHope hope = fetch.ticket.hope;
    if (hope != null) {
      hope.wrong(fetch.pages[block], fetch.read.owner());
    }
  }

  /** No byte of a read can come any more. */
  void ended(RemoteRead read) {
    LiveFetch fetch = peers.fetches.remove(read.id());
    if (fetch == null) {
      throw new IllegalStateException("remote read " + read.id() + " ended twice");
    }
    host.timers.cancel(fetch);
    peers.fetching.subtract(read.owner().node(), fetch.bytes);
    host.blocksInCopy -= fetch.slices;
    LongRanges.Builder arrived = new LongRanges.Builder();
    List<Long> sums = new ArrayList<>();
    IntArrayList slots = new IntArrayList();
    long bytes = 0;
    for (int block = 0; block < fetch.blockIds.length; block++) {
      if (fetch.quarantined || !read.arrived(block)) {
        exclude(fetch, block);
        continue;
      }
      int slot = host.state.slotOf(fetch.blockIds[block]);
      arrived.add(fetch.blockIds[block]);
      slots.addInt(slot);
      bytes += host.allocatedBytes(slot);
      for (int slice = 0; slice < host.state.slices(slot); slice++) {
        sums.add(read.checksum(block, slice));
      }
    }
    UUID grant = read.grant();
    host.emit(
        new RemoteReadEnded(
            read.id(),
            arrived.build(),
            Longs.of(sums.stream().mapToLong(Long::longValue).toArray()),
            slots.size() == fetch.blockIds.length ? RemoteFailure.NONE : cause(read, fetch),
            slots.size() == fetch.blockIds.length ? "" : read.detail(),
            grant == null ? 0 : grant.getMostSignificantBits(),
            grant == null ? 0 : grant.getLeastSignificantBits(),
            bytes,
            host.clock.monotonicMicros() - fetch.startedMicros));
    enter(fetch, slots);
    if (!fetch.quarantined) {
      for (long blockId : fetch.blockIds) {
        book.settled(blockId);
      }
    }
  }

  private static RemoteFailure cause(RemoteRead read, LiveFetch fetch) {
    RemoteFailure failure = read.failure();
    if (failure != null) {
      return failure;
    }
    if (fetch.quarantined) {
      return RemoteFailure.DEADLINE;
    }
    return read.stopped() ? RemoteFailure.CANCELLED : RemoteFailure.MISBEHAVED;
  }

  /** The blocks take their places among those that an engine published. */
  private void enter(LiveFetch fetch, IntArrayList slots) {
    IntArrayList sealed = new IntArrayList();
    boolean wantsHash = host.policy.wantsKeyHash();
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      if (host.state.blockId(slot) != 0 && host.state.blockState(slot) == BlockState.SEALED) {
        host.policy.entered(slot, wantsHash ? host.keyHash(slot) : 0);
        sealed.addInt(slot);
      }
    }
    if (tier != null) {
      tier.sealed(sealed, fetch.ticket.session.id, fetch.ticket.query.request());
    }
  }
}
