package io.orbitkv.catalog.placement;

import io.orbitkv.catalog.lookup.PlacementView;
import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.peer.PlacementFeed;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.catalog.Rendezvous;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The placements as this host knows them: those that the agreed host set founds, and whatever newer
 * it learns from its own replicas, from reads of others' and from answers of peers. Before the
 * hosts have agreed, this host takes itself for the only member, and serves nothing.
 */
public final class KnownPlacements implements PlacementView, PlacementFeed {
  /** Changes that are held for subscribers. */
  private static final int MAX_CHANGES = 1024;

  private final List<Runnable> wakes = new CopyOnWriteArrayList<>();
  private final Known[] known = new Known[CatalogShards.COUNT];
  private final Deque<Change> changes = new ArrayDeque<>();
  private long last;
  private boolean founded;

  /**
   * What is known of one catalog shard.
   *
   * @param position of the view that it was learnt from; 0 if from elsewhere
   */
  private record Known(Placement placement, @Nullable Handoff handoff, long position) {}

  /**
   * Before the hosts have agreed.
   *
   * @param self this host
   */
  public KnownPlacements(NodeId self) {
    for (int shard = 0; shard < known.length; shard++) {
      known[shard] = new Known(new Placement(shard, 1, List.of(self)), null, 0);
    }
  }

  /** Whether the hosts have agreed. */
  public synchronized boolean isFounded() {
    return founded;
  }

  /**
   * The hosts have agreed.
   *
   * @return whether that is news
   */
  public boolean found(HostSet hosts) {
    synchronized (this) {
      if (founded) {
        return false;
      }
      founded = true;
      for (int shard = 0; shard < known.length; shard++) {
        if (known[shard].position() == 0 && known[shard].placement().generation() == 1) {
          begin(new Placement(shard, 1, founders(hosts, shard)));
        }
      }
    }
    wakes.forEach(Runnable::run);
    return true;
  }

  /** The members that a catalog shard begins with. */
  public static List<NodeId> founders(HostSet hosts, int catalogShard) {
    return Rendezvous.members(catalogShard, hosts.hosts(), hosts.replicationFactor());
  }

  /** All placements by catalog shard. */
  public synchronized List<Placement> all() {
    List<Placement> all = new ArrayList<>();
    for (Known each : known) {
      all.add(each.placement());
    }
    return all;
  }

  @Override
  public synchronized Placement placement(int catalogShard) {
    return known[catalogShard].placement();
  }

  /** The handoff of a catalog shard that is not over, as far as this host knows. */
  public synchronized Optional<Handoff> handoff(int catalogShard) {
    return Optional.ofNullable(known[catalogShard].handoff());
  }

  /**
   * The hosts that should have a table of a catalog shard: its members, and while a handoff is
   * under way those that join and those that leave.
   */
  public synchronized Set<NodeId> holders(int catalogShard) {
    Known now = known[catalogShard];
    Set<NodeId> holders = new LinkedHashSet<>(now.placement().members());
    if (now.handoff() != null) {
      holders.addAll(now.handoff().target());
      holders.addAll(now.handoff().former());
    }
    return holders;
  }

  @Override
  public void learn(Placement newer) {
    synchronized (this) {
      Known before = known[newer.catalogShard()];
      if (newer.generation() <= before.placement().generation()) {
        return;
      }
      put(new Known(newer, null, before.position()));
    }
    wakes.forEach(Runnable::run);
  }

  /** Takes what a replica's log says; older than what is known, it changes nothing. */
  public void learn(CatalogView view) {
    Placement placement = view.placement();
    if (placement == null) {
      return;
    }
    synchronized (this) {
      Known before = known[view.catalogShard()];
      if (view.position() <= before.position()
          || placement.generation() < before.placement().generation()) {
        return;
      }
      put(new Known(placement, view.handoff(), view.position()));
    }
    wakes.forEach(Runnable::run);
  }

  /** Subscribers are told of placements only: nothing of the steps and streams between them. */
  private void put(Known now) {
    Placement before = known[now.placement().catalogShard()].placement();
    known[now.placement().catalogShard()] = now;
    if (before.equals(now.placement())) {
      return;
    }
    noteChange(now.placement());
  }

  /** A founding is news even where it leaves to this host what it took itself to have before. */
  private void begin(Placement founded) {
    known[founded.catalogShard()] = new Known(founded, null, 0);
    noteChange(founded);
  }

  private void noteChange(Placement placement) {
    changes.addLast(new Change(++last, placement));
    if (changes.size() > MAX_CHANGES) {
      changes.removeFirst();
    }
  }

  @Override
  public synchronized long last() {
    return last;
  }

  @Override
  public synchronized Optional<List<Change>> after(long position, int max) {
    if (position > last || position < last - changes.size()) {
      return Optional.empty();
    }
    return Optional.of(
        changes.stream().filter(change -> change.position() > position).limit(max).toList());
  }

  @Override
  public void onChange(Runnable wake) {
    wakes.add(wake);
  }

  @Override
  public void removeListener(Runnable wake) {
    wakes.remove(wake);
  }
}
