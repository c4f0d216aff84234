package io.orbitkv.core;

import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.InstanceCleaned;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LeaseReleased;
import io.orbitkv.state.HostEvent.NamespaceUnbound;
import io.orbitkv.state.HostEvent.PublishAborted;
import io.orbitkv.state.HostEvent.RestoreFinished;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionClosed;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
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
                () -> evictions(state.liveBlockIds()),
                () ->
                    each(
                        state.instances(),
                        open -> new InstanceCleaned(open.id(), CleanupReason.RESTART)),
                () -> each(state.namespaces(), RestartDecisions::unbound))
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

  private static Iterator<HostEvent> evictions(LongRanges blocks) {
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
        return new BlocksEvicted(blocks.slice(from, to), EvictionCause.RESTART, 0, "");
      }
    };
  }

  private static <T> Iterator<HostEvent> each(Collection<T> open, Function<T, HostEvent> ending) {
    return open.stream().map(ending).iterator();
  }
}
