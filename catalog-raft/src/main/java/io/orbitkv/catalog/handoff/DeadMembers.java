package io.orbitkv.catalog.handoff;

import io.orbitkv.catalog.placement.CatalogLog;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orders handoffs away from members that have been gone for long, for the catalog shards that this
 * host leads: one at a time for a catalog shard, and none while less than a majority of its members
 * is there. It counts from when it noticed itself, so a new leader waits anew.
 *
 * <p>A host that comes and goes moves nothing: it is not gone for long, and what takes the place of
 * another must have been there just as long without a break.
 */
public final class DeadMembers {
  private static final Logger LOG = LoggerFactory.getLogger(DeadMembers.class);

  private final CatalogLog log;
  private final long afterNanos;
  private final int atOnce;
  private final LongSupplier clock;
  private final Map<NodeId, Long> goneSince = new HashMap<>();
  private final Map<NodeId, Long> thereSince = new HashMap<>();

  /**
   * With as many handoffs at once as {@link HandoffDriver.Limits#DEFAULT} has.
   *
   * @param after how long a member must be gone
   * @param clock nanoseconds that never fall
   */
  public DeadMembers(CatalogLog log, Duration after, LongSupplier clock) {
    this(log, after, HandoffDriver.Limits.DEFAULT.atOnce(), clock);
  }

  /**
   * With a bound.
   *
   * @param after how long a member must be gone
   * @param atOnce none is ordered while so many are open of what this host leads
   * @param clock nanoseconds that never fall
   */
  public DeadMembers(CatalogLog log, Duration after, int atOnce, LongSupplier clock) {
    this.log = log;
    this.afterNanos = after.toNanos();
    this.atOnce = atOnce;
    this.clock = clock;
  }

  /**
   * Looks and returns at once. One thread calls it, again and again, while this host holds its own
   * lease.
   */
  public void step(Set<NodeId> live) {
    long now = clock.getAsLong();
    goneSince.keySet().removeAll(live);
    thereSince.keySet().retainAll(live);
    live.forEach(host -> thereSince.putIfAbsent(host, now));
    List<CatalogView> led = new ArrayList<>();
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      Optional<CatalogView> view = log.leads(shard) ? log.local(shard) : Optional.empty();
      view.filter(it -> it.placement() != null).ifPresent(led::add);
    }
    long open = led.stream().filter(view -> view.handoff() != null).count();
    for (CatalogView view : led) {
      Optional<List<NodeId>> target = target(view, live, now);
      if (target.isPresent() && open < atOnce) {
        open++;
        order(view, target.get());
      }
    }
  }

  /** Where a catalog shard should go now; empty if it should stay, or has nowhere to go. */
  private Optional<List<NodeId>> target(CatalogView view, Set<NodeId> live, long now) {
    Placement placement = view.placement();
    if (placement == null) {
      return Optional.empty();
    }
    Set<NodeId> dead = new TreeSet<>();
    long there = 0;
    for (NodeId member : placement.members()) {
      if (live.contains(member)) {
        there++;
      } else if (now - goneSince.computeIfAbsent(member, _ -> now) >= afterNanos) {
        dead.add(member);
      }
    }
    if (dead.isEmpty() || view.handoff() != null || 2 * there <= placement.members().size()) {
      return Optional.empty();
    }
    Set<NodeId> steady =
        live.stream()
            .filter(host -> now - thereSince.getOrDefault(host, now) >= afterNanos)
            .collect(Collectors.toCollection(TreeSet::new));
    // With fewer members than before it would be no better off.
    return Targets.without(placement, dead, steady)
        .filter(target -> target.size() == placement.members().size());
  }

  private void order(CatalogView view, List<NodeId> target) {
    Placement placement = view.placement();
    if (placement == null) {
      return;
    }
    LOG.warn(
        "catalog shard {}: members {} are not all there any more; handing off to {}",
        view.catalogShard(),
        placement.members(),
        target);
    var _ =
        log.propose(
            view.catalogShard(),
            List.of(
                new CatalogCommand.PrepareHandoff(
                    placement.generation(), view.lastAttempt(), target)));
  }
}
