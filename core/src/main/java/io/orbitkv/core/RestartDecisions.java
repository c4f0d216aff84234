package io.orbitkv.core;

import io.orbitkv.core.pool.PoolId;
import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.BlocksKept;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GrantClosed;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.InstanceCleaned;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LeaseReleased;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.NamespaceUnbound;
import io.orbitkv.state.HostEvent.PoolOpened;
import io.orbitkv.state.HostEvent.PublishAborted;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostEvent.RemoteReadEnded;
import io.orbitkv.state.HostEvent.RestoreFinished;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionClosed;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdTierOpened;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.OpenRemoteRead;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * The first facts of an epoch: that it began, and the end of everything that the epoch before left
 * open. Unless its pool is open again, DRAM died with it, so every block in it is evicted. Replay
 * never guesses what a crash meant; it reads it here. A thousand facts at a time, so that the loop
 * can tell that it lives.
 */
final class RestartDecisions {
  private static final int FACTS_PER_STEP = 1_024;
  private static final int BLOCKS_PER_FACT = 8_192;

  private final Host host;
  private final String version;
  private final Iterator<Supplier<Iterator<HostEvent>>> phases;
  private Iterator<HostEvent> facts = List.<HostEvent>of().iterator();

  /**
   * All slots by ascending id, looked for once: no block is made here, and one that is gone leaves
   * the id 0.
   */
  private int[] slots = {};

  RestartDecisions(Host host, String version) {
    this.host = host;
    this.version = version;
    HostState state = host.state;
    this.phases =
        List.<Supplier<Iterator<HostEvent>>>of(
                () -> List.of(epochStarted()).iterator(),
                () -> each(state.remoteReads(), RestartDecisions::abandoned),
                () -> each(state.grants(), open -> new GrantClosed(open.id(), GrantEnd.RESTART, 0)),
                () ->
                    each(
                        state.restores(),
                        open -> new RestoreFinished(open.id(), RestoreOutcome.RESTART, 0, 0)),
                () ->
                    each(
                        state.publishes(),
                        open -> new PublishAborted(open.id(), AbortReason.RESTART)),
                () ->
                    each(
                        state.tickets(), open -> new TicketClosed(open.id(), TicketEnd.RESTART, 0)),
                () -> each(state.leases(), open -> new LeaseReleased(open.id(), LeaseEnd.RESTART)),
                () ->
                    each(
                        state.sessions(), open -> new SessionClosed(open.id(), SessionEnd.RESTART)),
                () -> {
                  slots = state.slotsInOrder();
                  return cut(
                      state.tierUsed() ? where(state::beingRead) : LongRanges.EMPTY,
                      ids -> new LoadFailed(ids, LoadFailure.RESTART, ""));
                },
                () ->
                    cut(
                        sameTier() ? LongRanges.EMPTY : where(state::onSsd),
                        ids -> new SsdEvicted(ids, SsdEvictionCause.TIER_LOST, 0, "")),
                () -> tierOpened().iterator(),
                () ->
                    cut(
                        where(slot -> state.onSsd(slot) && inDram(slot) && !keeps(slot)),
                        ids -> new BlocksDemoted(ids, EvictionCause.RESTART, 0, "")),
                () ->
                    cut(
                        where(slot -> !state.onSsd(slot) && !keeps(slot)),
                        ids -> new BlocksEvicted(ids, EvictionCause.RESTART, 0, "")),
                () -> poolOpened().iterator(),
                () ->
                    cut(
                        state.sealedBlocks() == 0 ? LongRanges.EMPTY : where(state::sealed),
                        BlocksKept::new),
                () ->
                    each(
                        state.instances(),
                        open -> new InstanceCleaned(open.id(), CleanupReason.RESTART)),
                () ->
                    each(
                        state.namespaces().stream().filter(each -> each.blocks() == 0).toList(),
                        RestartDecisions::unbound))
            .iterator();
  }

  /**
   * When all is emitted: all slots by ascending id of their block; those whose block is gone have
   * the id 0. Kept no longer.
   */
  int[] takeSlots() {
    int[] taken = slots;
    slots = new int[0];
    return taken;
  }

  /** Emits some facts; false when the epoch is ready for commands. */
  boolean step() {
    for (int i = 0; i < FACTS_PER_STEP; i++) {
      while (!facts.hasNext()) {
        if (!phases.hasNext()) {
          return false;
        }
        facts = phases.next().get();
      }
      host.emit(facts.next());
    }
    return true;
  }

  private HostEvent epochStarted() {
    return new EpochStarted(
        host.state.epoch() + 1, version, host.config.poolBytes(), host.config.toString());
  }

  /** The process that bytes could have come to is dead, and so is its memory, or verified anew. */
  private static HostEvent abandoned(OpenRemoteRead open) {
    return new RemoteReadEnded(
        open.id(), LongRanges.EMPTY, Longs.EMPTY, RemoteFailure.RESTART, "", 0, 0, 0, 0);
  }

  private static HostEvent unbound(BoundNamespace namespace) {
    return new NamespaceUnbound(namespace.id());
  }

  /** Whether the tier that is open now is the one that the copies lie on. */
  private boolean sameTier() {
    LiveTier tier = host.tier;
    return tier != null
        && tier.tierIdHigh == host.state.tierIdHigh()
        && tier.tierIdLow == host.state.tierIdLow()
        && Longs.of(tier.fileBytes.clone()).equals(host.state.tierFileBytes());
  }

  private List<HostEvent> tierOpened() {
    LiveTier tier = host.tier;
    return tier == null
        ? List.of()
        : List.of(
            new SsdTierOpened(tier.tierIdHigh, tier.tierIdLow, Longs.of(tier.fileBytes.clone())));
  }

  /** A host that never kept its pool has nothing to say about that. */
  private List<HostEvent> poolOpened() {
    PoolId id = host.poolId;
    boolean said = host.state.poolIdHigh() == 0 && host.state.poolIdLow() == 0;
    return said && !id.keeps() ? List.of() : List.of(new PoolOpened(id.high(), id.low()));
  }

  private boolean inDram(int slot) {
    return host.state.sealed(slot) || host.state.unverified(slot);
  }

  /**
   * Whether the block's bytes should lie in the pool that is open now, cut as the journal says and
   * where this epoch may leave them.
   */
  private boolean keeps(int slot) {
    HostState state = host.state;
    boolean samePool =
        host.poolId.keeps()
            && host.poolId.high() == state.poolIdHigh()
            && host.poolId.low() == state.poolIdLow();
    if (!samePool || !inDram(slot)) {
      return false;
    }
    int granule = host.granuleBytes() - 1;
    for (int slice = 0; slice < state.slices(slot); slice++) {
      if ((state.extentOffset(slot, slice) & granule) != 0
          || (state.extentBytes(slot, slice) & granule) != 0
          || state.layers(state.namespaceId(slot), state.groupId(slot), slice) == null) {
        return false;
      }
    }
    return true;
  }

  /** Ids of blocks, ascending. */
  private LongRanges where(IntPredicate wanted) {
    LongRanges.Builder ids = new LongRanges.Builder();
    for (int slot : slots) {
      long id = host.state.blockId(slot);
      if (id != 0 && wanted.test(slot)) {
        ids.add(id);
      }
    }
    return ids.build();
  }

  private static Iterator<HostEvent> cut(LongRanges blocks, Function<LongRanges, HostEvent> fact) {
    int facts = (blocks.size() + BLOCKS_PER_FACT - 1) / BLOCKS_PER_FACT;
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < facts;
      }

      @Override
      public HostEvent next() {
        int from = next++ * BLOCKS_PER_FACT;
        int to = Math.min(blocks.size(), from + BLOCKS_PER_FACT);
        return fact.apply(blocks.slice(from, to));
      }
    };
  }

  private static <T> Iterator<HostEvent> each(Collection<T> open, Function<T, HostEvent> ending) {
    return open.stream().map(ending).iterator();
  }
}
