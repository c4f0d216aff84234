package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.lookup.PlacementView;
import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.peer.PlacementFeed;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.catalog.Rendezvous;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The placements that the agreed host set founds, which every host computes alike. Before the hosts
 * have agreed, this host takes itself for the only member, and serves nothing.
 */
final class FoundedCatalog implements PlacementView, PlacementFeed, CatalogAdmin {
  private final List<Runnable> wakes = new CopyOnWriteArrayList<>();
  private final Placement[] placements = new Placement[CatalogShards.COUNT];
  private final List<Change> changes = new ArrayList<>();
  private boolean founded;

  FoundedCatalog(NodeId self) {
    for (int shard = 0; shard < placements.length; shard++) {
      placements[shard] = new Placement(shard, 1, List.of(self));
    }
  }

  /** Whether the hosts have agreed. */
  synchronized boolean isFounded() {
    return founded;
  }

  /**
   * The hosts have agreed.
   *
   * @return whether that is news
   */
  boolean found(HostSet hosts) {
    synchronized (this) {
      if (founded) {
        return false;
      }
      founded = true;
      for (int shard = 0; shard < placements.length; shard++) {
        if (placements[shard].generation() == 1) {
          put(
              new Placement(
                  shard, 1, Rendezvous.members(shard, hosts.hosts(), hosts.replicationFactor())));
        }
      }
    }
    wakes.forEach(Runnable::run);
    return true;
  }

  /** All placements by catalog shard. */
  synchronized List<Placement> all() {
    return List.of(placements);
  }

  @Override
  public synchronized Placement placement(int catalogShard) {
    return placements[catalogShard];
  }

  @Override
  public void learn(Placement newer) {
    synchronized (this) {
      if (newer.generation() <= placements[newer.catalogShard()].generation()) {
        return;
      }
      put(newer);
    }
    wakes.forEach(Runnable::run);
  }

  /** Each catalog shard changes a few times in a daemon's life: all changes are held. */
  private void put(Placement placement) {
    placements[placement.catalogShard()] = placement;
    changes.add(new Change(changes.size() + 1, placement));
  }

  @Override
  public synchronized long last() {
    return changes.size();
  }

  @Override
  public synchronized Optional<List<Change>> after(long position, int max) {
    if (position < 0 || position > changes.size()) {
      return Optional.empty();
    }
    int from = (int) position;
    return Optional.of(List.copyOf(changes.subList(from, Math.min(changes.size(), from + max))));
  }

  @Override
  public void onChange(Runnable wake) {
    wakes.add(wake);
  }

  @Override
  public void removeListener(Runnable wake) {
    wakes.remove(wake);
  }

  @Override
  public CompletionStage<Placements> placements(Set<Integer> catalogShards) {
    return CompletableFuture.completedFuture(
        isFounded()
            ? new Placements.Known(
                all().stream()
                    .filter(
                        each ->
                            catalogShards.isEmpty() || catalogShards.contains(each.catalogShard()))
                    .toList())
            : new Placements.Refused(notFounded()));
  }

  @Override
  public CompletionStage<HandoffReport> handoff(HandoffOrder order) {
    if (!isFounded()) {
      return CompletableFuture.completedFuture(new HandoffReport.Refused(notFounded()));
    }
    Placement current = placement(order.catalogShard());
    return CompletableFuture.completedFuture(
        switch (order) {
          case HandoffOrder.Show _ ->
              new HandoffReport.Status(current, Optional.empty(), 0, "", "");
          case HandoffOrder.Start _, HandoffOrder.Resume _, HandoffOrder.RollBack _ ->
              new HandoffReport.Refused(
                  new Refusal(
                      RefusalCategory.UNAVAILABLE,
                      "this host's placements are those of the host set",
                      "found the cluster with all its hosts"));
        });
  }

  private static Refusal notFounded() {
    return new Refusal(
        RefusalCategory.UNAVAILABLE,
        "the hosts have not agreed on the catalog's host set",
        "start as many hosts as --replication-factor says");
  }
}
