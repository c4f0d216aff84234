package io.orbitkv.core;

import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.InstanceCleaned;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LeaseReleased;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.NamespaceUnbound;
import io.orbitkv.state.HostEvent.PublishAborted;
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
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * The first facts of an epoch: that it began, and the end of everything that the epoch before left
 * open. DRAM died with it, so every block is evicted. Replay never guesses what a crash meant; it
 * reads it here. A thousand facts at a time, so that the loop can tell that it lives.
 */
final class RestartDecisions {
  private static final int FACTS_PER_STEP = 1_024;
  private static final int BLOCKS_PER_FACT = 8_192;

  private final Host host;
  private final String version;
  private final Iterator<Supplier<Iterator<HostEvent>>> phases;
  private Iterator<HostEvent> facts = List.<HostEvent>of().iterator();

  RestartDecisions(Host host, String version) {
    this.host = host;
    this.version = version;
    HostState state = host.state;
    this.phases =
        List.<Supplier<Iterator<HostEvent>>>of(
                () -> List.of(epochStarted()).iterator(),
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
                () ->
                    cut(
                        where(state::beingRead),
                        ids -> new LoadFailed(ids, LoadFailure.RESTART, "")),
                () ->
                    cut(
                        where(slot -> state.onSsd(slot) && !sameTier()),
                        ids -> new SsdEvicted(ids, SsdEvictionCause.TIER_LOST, 0, "")),
                () -> tierOpened().iterator(),
                () ->
                    cut(
                        where(slot -> state.sealed(slot) && state.onSsd(slot)),
                        ids -> new BlocksDemoted(ids, EvictionCause.RESTART, 0, "")),
                () ->
                    cut(
                        where(slot -> !state.onSsd(slot)),
                        ids -> new BlocksEvicted(ids, EvictionCause.RESTART, 0, "")),
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

  /** Ids of blocks, ascending; walks all of them. */
  private LongRanges where(IntPredicate wanted) {
    LongRanges.Builder ids = new LongRanges.Builder();
    host.state.forEachBlock(
        slot -> {
          if (wanted.test(slot)) {
            ids.add(host.state.blockId(slot));
          }
        });
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
