package io.orbitkv.core;

import io.orbitkv.core.Command.AuthorizeGrant;
import io.orbitkv.core.Command.PeerGone;
import io.orbitkv.core.Command.ReleaseGrant;
import io.orbitkv.core.Reply.GrantRefused;
import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.GrantFormat;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.core.remote.RemoteTier;
import io.orbitkv.core.remote.WantedBlock;
import io.orbitkv.state.BlockState;
import io.orbitkv.state.HostEvent.GrantClosed;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.GrantOpened;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * Lets other hosts read exact blocks. Keys, generations and the run are compared: what led a peer
 * here was evidence only. Blocks that are on SSD only come into memory first. From the fact on that
 * opens a grant its blocks are pinned, until the proof that nobody reads them any more, whether it
 * was given back, expired, or its peer is gone.
 */
final class GrantDecisions {
  private static final int MAX_BLOCKS = 4_096;

  private final Host host;
  private final LivePeers peers;
  private final @Nullable TierDecisions tier;

  GrantDecisions(Host host, LivePeers peers, @Nullable TierDecisions tier) {
    this.host = host;
    this.peers = peers;
    this.tier = tier;
  }

  // ---- asking
  // ------------------------------------------------------------------------------------------------------

  void authorize(AuthorizeGrant request) {
    GrantRefused problem = problem(request);
    LiveNamespace namespace =
        problem == null
            ? host.namespaces.get(request.blocks().getFirst().key().namespace().text())
            : null;
    if (problem == null && namespace == null) {
      problem = refused(GrantRefusal.UNKNOWN_KEY, "there is no such namespace");
    }
    if (namespace != null && !format(namespace).equals(request.format())) {
      problem =
          refused(
              GrantRefusal.FOREIGN_FORMAT,
              "it is %s here, not %s".formatted(format(namespace), request.format()));
    }
    if (problem != null || namespace == null) {
      refuse(request, problem);
      return;
    }
    StagedGrant asked = new StagedGrant(request, namespace);
    LongHashSet seen = new LongHashSet();
    IntArrayList onSsd = new IntArrayList();
    int found = 0;
    long bytes = 0;
    for (int i = 0; i < request.blocks().size(); i++) {
      int slot = find(asked, i);
      if (slot < 0) {
        continue;
      }
      if (!seen.add(host.state.blockId(slot))) {
        refuse(request, refused(GrantRefusal.BAD_REQUEST, "a block is asked for twice"));
        return;
      }
      asked.blockIds[i] = host.state.blockId(slot);
      bytes += bytes(slot);
      found++;
      if (host.state.blockState(slot) == BlockState.DEMOTED) {
        onSsd.addInt(slot);
      }
    }
    problem = found == 0 ? nothing(asked) : bounds(asked, bytes, found);
    if (problem != null) {
      refuse(request, problem);
      return;
    }
    charge(asked, bytes);
    for (long id : asked.blockIds) {
      if (id != 0) {
        asked.held.addLong(id);
        host.hold(id);
      }
    }
    stage(onSsd);
    if (onItsWay(asked)) {
      peers.staged.add(asked);
      host.timers.arm(asked, host.deadline(peers.settings.stagingMillis()));
    } else {
      finish(asked);
    }
  }

  private static String format(LiveNamespace namespace) {
    return GrantFormat.of(namespace.format, namespace.shardCount);
  }

  private @Nullable GrantRefused problem(AuthorizeGrant request) {
    if (host.draining) {
      return refused(GrantRefusal.DRAINING, "the daemon is stopping");
    }
    if (!request.ownerRuntime().equals(peers.runtime)) {
      return refused(
          GrantRefusal.WRONG_RUNTIME,
          "this is run %s, not %s".formatted(peers.runtime, request.ownerRuntime()));
    }
    List<WantedBlock> blocks = request.blocks();
    if (blocks.isEmpty() || blocks.size() > MAX_BLOCKS || request.validMillis() < 1) {
      return refused(
          GrantRefusal.BAD_REQUEST,
          "%d blocks for %d ms".formatted(blocks.size(), request.validMillis()));
    }
    for (WantedBlock each : blocks) {
      if (!each.key().namespace().equals(blocks.getFirst().key().namespace())) {
        return refused(GrantRefusal.BAD_REQUEST, "blocks of two namespaces");
      }
    }
    return null;
  }

  private @Nullable GrantRefused bounds(StagedGrant asked, long bytes, int blocks) {
    if (peers.grants.size() + peers.staged.size() >= peers.settings.maxGrants()) {
      return refused(GrantRefusal.TOO_MANY_GRANTS, peers.grants.size() + " grants are open");
    }
    if (!peers.granted.fits(
        asked.request.peer().node(),
        bytes,
        peers.settings.maxGrantedBytes(),
        peers.settings.maxGrantedBytesPerPeer())) {
      return refused(
          GrantRefusal.BUDGET,
          "%d bytes wanted, %d are granted".formatted(bytes, peers.granted.total()));
    }
    return host.hasRoom(tier == null ? 4 : 12, blocks * 4L * Host.BLOCK_COLUMN_BYTES)
        ? null
        : refused(GrantRefusal.JOURNAL_FULL, "the journal has no room for a grant");
  }

  /** Why a request gets nothing at all: the reason of its first block. */
  private static GrantRefused nothing(StagedGrant asked) {
    BlockGrant.NotGiven first = asked.refused[0];
    return refused(first.reason(), first.message());
  }

  private static GrantRefused refused(GrantRefusal reason, String message) {
    return new GrantRefused(reason, message);
  }

  private void refuse(AuthorizeGrant request, @Nullable GrantRefused answer) {
    peers.refusedGrants++;
    host.reply(
        request.replyTo(),
        answer == null ? refused(GrantRefusal.UNKNOWN_KEY, "there is no such block") : answer);
  }

  /** The slot of a wanted block; -1 if it is not given, for a reason that is noted. */
  private int find(StagedGrant asked, int at) {
    WantedBlock wanted = asked.request.blocks().get(at);
    byte[] hash = wanted.key().hash().toBytes();
    int slot = host.state.findSlot(asked.namespace.id, wanted.key().group(), hash, 0, hash.length);
    if (slot < 0 || !host.state.stored(slot)) {
      asked.refused[at] =
          new BlockGrant.NotGiven(GrantRefusal.UNKNOWN_KEY, "there is no such block");
      return -1;
    }
    long generation = generation(slot, wanted.tier());
    if (generation != wanted.generation()) {
      asked.refused[at] =
          new BlockGrant.NotGiven(
              GrantRefusal.WRONG_GENERATION,
              generation == 0
                  ? "the block is not in " + wanted.tier()
                  : "it has generation %d, not %d".formatted(generation, wanted.generation()));
      return -1;
    }
    return slot;
  }

  /** The highest generation of a block's extents in a tier, 0 if it is not there. */
  private long generation(int slot, RemoteTier in) {
    HostState state = host.state;
    boolean there =
        switch (in) {
          case DRAM -> state.sealed(slot);
          case SSD -> state.onSsd(slot);
        };
    long highest = 0;
    for (int slice = 0; there && slice < state.slices(slot); slice++) {
      highest =
          Math.max(
              highest,
              switch (in) {
                case DRAM -> state.extentGeneration(slot, slice);
                case SSD -> state.ssdGeneration(slot, slice);
              });
    }
    return highest;
  }

  private long bytes(int slot) {
    long bytes = 0;
    for (int slice = 0; slice < host.state.slices(slot); slice++) {
      bytes += host.state.extentBytes(slot, slice);
    }
    return bytes;
  }

  private void charge(StagedGrant asked, long bytes) {
    asked.chargedBytes = bytes;
    peers.granted.add(asked.request.peer().node(), bytes);
  }

  // ---- staging
  // -----------------------------------------------------------------------------------------------------

  /** Begins to bring blocks back from SSD; those that cannot be are not given. */
  private void stage(IntArrayList slots) {
    if (tier == null || slots.isEmpty() || !tier.loads.mayLoad(tier.loads.bytes(slots))) {
      return;
    }
    Extent[] extents = tier.loads.reserve(slots, 0, "");
    if (extents != null) {
      tier.loads.begin(slots, extents, 0, 0, "");
    }
  }

  private boolean onItsWay(StagedGrant asked) {
    for (long id : asked.blockIds) {
      int slot = id == 0 ? -1 : host.state.slotOf(id);
      if (slot >= 0 && host.state.blockState(slot) == BlockState.LOADING) {
        return true;
      }
    }
    return false;
  }

  /** Answers requests whose blocks have all come, or never will. */
  void answerStaged() {
    if (peers.staged.isEmpty()) {
      return;
    }
    for (StagedGrant each : List.copyOf(peers.staged)) {
      if (!onItsWay(each)) {
        due(each);
      }
    }
  }

  /** Waits no longer: what is in memory is given. */
  void due(StagedGrant asked) {
    host.timers.cancel(asked);
    peers.staged.remove(asked);
    finish(asked);
  }

  // ---- giving
  // ------------------------------------------------------------------------------------------------------

  private void finish(StagedGrant asked) {
    AuthorizeGrant request = asked.request;
    peers.granted.subtract(request.peer().node(), asked.chargedBytes);
    asked.held.forEachLong(host::letGo);
    List<BlockGrant> outcomes = new ArrayList<>();
    List<GrantedRanges.Range> ranges = new ArrayList<>();
    LongRanges.Builder ids = new LongRanges.Builder();
    IntArrayList slots = new IntArrayList();
    long bytes = 0;
    for (int i = 0; i < asked.blockIds.length; i++) {
      int slot = asked.blockIds[i] == 0 ? -1 : host.state.slotOf(asked.blockIds[i]);
      if (slot < 0 || !host.state.sealed(slot)) {
        outcomes.add(
            asked.blockIds[i] == 0
                ? asked.refused[i]
                : new BlockGrant.NotGiven(GrantRefusal.NOT_STAGED, "the block is not in memory"));
        continue;
      }
      outcomes.add(given(asked.namespace, slot, ranges));
      ids.add(asked.blockIds[i]);
      slots.addInt(slot);
      bytes += bytes(slot);
    }
    if (ids.size() == 0 || host.draining) {
      refuse(
          request,
          host.draining
              ? refused(GrantRefusal.DRAINING, "the daemon is stopping")
              : refused(GrantRefusal.NOT_STAGED, "no block could be brought into memory"));
      return;
    }
    long validMillis = Math.min(request.validMillis(), peers.settings.maxGrantMillis());
    Optional<GrantedRanges.Admission> admission = peers.ranges.open(ranges, validMillis);
    if (admission.isEmpty()) {
      refuse(request, refused(GrantRefusal.TOO_MANY_GRANTS, "the table of grants is full"));
      return;
    }
    UUID uuid = admission.get().id();
    LiveGrant grant = new LiveGrant(host.state.nextGrantId(), uuid, request.peer(), bytes);
    long now = Math.max(host.clock.wallMicros(), host.state.atMicros());
    host.emit(
        new GrantOpened(
            grant.id,
            uuid.getMostSignificantBits(),
            uuid.getLeastSignificantBits(),
            FetchDecisions.id(request.peer()),
            ids.build(),
            bytes,
            now + validMillis * 1_000));
    peers.grants.put(uuid, grant);
    peers.granted.add(request.peer().node(), bytes);
    for (int i = 0; i < slots.size(); i++) {
      host.touched(slots.getInt(i));
    }
    host.timers.arm(grant, host.deadline(validMillis));
    host.reply(request.replyTo(), new Reply.Granted(admission.get(), validMillis, outcomes));
  }

  private BlockGrant given(LiveNamespace namespace, int slot, List<GrantedRanges.Range> ranges) {
    HostState state = host.state;
    int g = namespace.groupIndex(state.groupId(slot));
    List<BlockGrant.Slice> slices = new ArrayList<>();
    for (int slice = 0; slice < state.slices(slot); slice++) {
      int bytes = namespace.contentBytes(g, slice);
      slices.add(
          new BlockGrant.Slice(
              slice, state.extentOffset(slot, slice), bytes, state.checksum(slot, slice)));
      ranges.add(new GrantedRanges.Range(state.extentOffset(slot, slice), bytes));
    }
    return new BlockGrant.Given(slices);
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------

  void release(ReleaseGrant request) {
    LiveGrant grant = peers.grants.get(request.grantId());
    if (grant == null
        || !grant.peer.node().equals(request.peer().node())
        || !grant.peer.runtime().equals(request.peer().runtime())) {
      host.reply(
          request.replyTo(),
          refused(GrantRefusal.UNKNOWN_GRANT, "no grant %s".formatted(request.grantId())));
      return;
    }
    revoke(grant, GrantEnd.RELEASED);
    host.reply(request.replyTo(), new Reply.GrantReleased(grant.uuid));
  }

  void due(LiveGrant grant) {
    revoke(grant, GrantEnd.EXPIRED);
  }

  void peerGone(PeerGone gone) {
    for (LiveGrant grant : List.copyOf(peers.grants.values())) {
      if (grant.peer.node().equals(gone.node()) && !grant.peer.runtime().equals(gone.runtime())) {
        revoke(grant, GrantEnd.PEER_GONE);
      }
    }
  }

  void shutDown() {
    for (StagedGrant each : List.copyOf(peers.staged)) {
      due(each);
    }
    for (LiveGrant grant : List.copyOf(peers.grants.values())) {
      revoke(grant, GrantEnd.SHUTDOWN);
    }
    host.timers.arm(peers.drain, host.deadline(peers.settings.drainMillis()));
  }

  private void revoke(LiveGrant grant, GrantEnd reason) {
    if (grant.revoked == null) {
      grant.revoked = reason;
      host.timers.cancel(grant);
      peers.ranges.revoke(grant.uuid);
    }
  }

  /** Nobody reads under a grant any more. */
  void drained(UUID uuid, long reads) {
    LiveGrant grant = peers.grants.get(uuid);
    GrantEnd reason = grant == null ? null : grant.revoked;
    if (grant == null || reason == null) {
      throw new IllegalStateException("grant " + uuid + " drained and was not revoked");
    }
    peers.grants.remove(uuid);
    peers.granted.subtract(grant.peer.node(), grant.bytes);
    host.emit(new GrantClosed(grant.id, reason, reads));
  }
}
