package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.CatalogAnswer.Accepted;
import io.orbitkv.state.catalog.CatalogAnswer.Refused;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import io.orbitkv.state.catalog.Handoff.Step;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the members of one catalog shard agree on: who they are, at which generation, how far a
 * handoff is, and which run of each owner may stream its inventory.
 *
 * <p>Its log holds commands, since their order is known only when they are committed: {@link
 * #apply} itself accepts or refuses, the same way on every member. It has no clock, no randomness
 * and no I/O. What blocks the owners have is not in it; that is evidence, see the inventory
 * streams.
 *
 * <p>One thread at a time.
 */
public final class CatalogState {
  /** The most members of a placement. */
  public static final int MAX_MEMBERS = 15;

  private final int catalogShard;
  private final TreeMap<NodeId, OwnerStream> owners = new TreeMap<>();
  private @Nullable Placement placement;
  private @Nullable Handoff handoff;
  private long position;

  /**
   * Nothing has been agreed on.
   *
   * @param catalogShard 0 to {@link CatalogShards#COUNT} - 1
   */
  public CatalogState(int catalogShard) {
    this.catalogShard = catalogShard;
  }

  CatalogState(
      int catalogShard,
      long position,
      @Nullable Placement placement,
      @Nullable Handoff handoff,
      SortedMap<NodeId, OwnerStream> owners) {
    this.catalogShard = catalogShard;
    this.position = position;
    this.placement = placement;
    this.handoff = handoff;
    this.owners.putAll(owners);
  }

  public int catalogShard() {
    return catalogShard;
  }

  /** How many commands have changed something. */
  public long position() {
    return position;
  }

  /** Who holds the catalog shard; null before it was founded. */
  public @Nullable Placement placement() {
    return placement;
  }

  /** The handoff that is not over; null if there is none. */
  public @Nullable Handoff handoff() {
    return handoff;
  }

  /** The newest run of each owner, in the order of their names. */
  public SortedMap<NodeId, OwnerStream> owners() {
    return Collections.unmodifiableSortedMap(owners);
  }

  /** Does what a command asks, or says why not. */
  public CatalogAnswer apply(CatalogCommand command) {
    Placement before = placement;
    CatalogAnswer answer =
        switch (command) {
          case Found(List<NodeId> members) -> found(members);
          case OpenStream open -> open(open);
          case FenceOwner(NodeId owner, long epoch) -> fence(owner, epoch);
          case PrepareHandoff(long generation, List<NodeId> target) -> prepare(generation, target);
          case CaughtUp(long generation, List<NodeId> target) -> caughtUp(generation, target);
          case CommitHandoff(long generation, List<NodeId> target) -> commit(generation, target);
          case RetireHandoff(long generation) -> retire(generation);
          case RollBackHandoff(long generation, List<NodeId> target) ->
              rollBack(generation, target);
        };
    CatalogInvariants.checkStep(before, this);
    return answer;
  }

  private CatalogAnswer found(List<NodeId> members) {
    if (placement != null) {
      boolean same = placement.generation() == 1 && placement.members().equals(members);
      return same ? already() : refused(CatalogRefusal.FOUNDED_OTHERWISE);
    }
    if (!good(members)) {
      return refused(CatalogRefusal.BAD_MEMBERS);
    }
    placement = new Placement(catalogShard, 1, members);
    return changed();
  }

  private CatalogAnswer open(OpenStream open) {
    OwnerStream known = owners.get(open.owner());
    if (open.epoch() < 1 || (known != null && open.epoch() < known.epoch())) {
      return refused(CatalogRefusal.OLD_EPOCH);
    }
    if (known != null && open.epoch() == known.epoch()) {
      if (known.fenced()) {
        return refused(CatalogRefusal.OLD_EPOCH);
      }
      return known.runtime().equals(open.runtime())
          ? already()
          : refused(CatalogRefusal.EPOCH_TAKEN);
    }
    owners.put(open.owner(), new OwnerStream(open.runtime(), open.epoch(), false));
    return changed();
  }

  private CatalogAnswer fence(NodeId owner, long epoch) {
    OwnerStream known = owners.get(owner);
    if (epoch < 1) {
      return refused(CatalogRefusal.OLD_EPOCH);
    }
    if (known != null && (known.epoch() > epoch || (known.epoch() == epoch && known.fenced()))) {
      return already();
    }
    UUID runtime = known != null && known.epoch() == epoch ? known.runtime() : OwnerStream.NO_RUN;
    owners.put(owner, new OwnerStream(runtime, epoch, true));
    return changed();
  }

  private CatalogAnswer prepare(long generation, List<NodeId> target) {
    Placement now = placement;
    CatalogRefusal wrong = wrongGeneration(generation);
    if (now == null || wrong != null) {
      return refused(wrong == null ? CatalogRefusal.NOT_FOUNDED : wrong);
    }
    if (!good(target)) {
      return refused(CatalogRefusal.BAD_MEMBERS);
    }
    if (handoff != null) {
      boolean same = handoff.step() != Step.COMMITTED && handoff.target().equals(target);
      return same ? already() : refused(CatalogRefusal.HANDOFF_OPEN);
    }
    if (target.equals(now.members())) {
      return refused(CatalogRefusal.NOTHING_TO_MOVE);
    }
    handoff = new Handoff(Step.PREPARED, target, now.members());
    return changed();
  }

  private CatalogAnswer caughtUp(long generation, List<NodeId> target) {
    CatalogRefusal wrong = wrongGeneration(generation);
    if (wrong != null) {
      return refused(wrong);
    }
    Handoff open = openTo(target);
    if (open == null) {
      return refused(CatalogRefusal.NO_SUCH_HANDOFF);
    }
    if (open.step() == Step.CAUGHT_UP) {
      return already();
    }
    handoff = open.at(Step.CAUGHT_UP);
    return changed();
  }

  private CatalogAnswer commit(long generation, List<NodeId> target) {
    if (committed(generation, target)) {
      return already();
    }
    CatalogRefusal wrong = wrongGeneration(generation);
    if (wrong != null) {
      return refused(wrong);
    }
    Handoff open = openTo(target);
    if (open == null) {
      return refused(CatalogRefusal.NO_SUCH_HANDOFF);
    }
    if (open.step() != Step.CAUGHT_UP) {
      return refused(CatalogRefusal.NOT_CAUGHT_UP);
    }
    placement = new Placement(catalogShard, generation + 1, target);
    handoff = open.at(Step.COMMITTED);
    return changed();
  }

  private CatalogAnswer retire(long generation) {
    CatalogRefusal wrong = wrongGeneration(generation);
    if (wrong != null) {
      return refused(wrong);
    }
    if (handoff == null) {
      return already();
    }
    if (handoff.step() != Step.COMMITTED) {
      return refused(CatalogRefusal.HANDOFF_OPEN);
    }
    handoff = null;
    return changed();
  }

  private CatalogAnswer rollBack(long generation, List<NodeId> target) {
    if (committed(generation, target)) {
      return refused(CatalogRefusal.COMMITTED_ALREADY);
    }
    CatalogRefusal wrong = wrongGeneration(generation);
    if (wrong != null) {
      return refused(wrong);
    }
    if (handoff == null) {
      return already();
    }
    if (openTo(target) == null) {
      return refused(CatalogRefusal.NO_SUCH_HANDOFF);
    }
    handoff = null;
    return changed();
  }

  /** The handoff to that target, if it is open and not committed. */
  private @Nullable Handoff openTo(List<NodeId> target) {
    Handoff open = handoff;
    return open != null && open.step() != Step.COMMITTED && open.target().equals(target)
        ? open
        : null;
  }

  /** Whether the placement in force is what a handoff of that generation to that target made. */
  private boolean committed(long generation, List<NodeId> target) {
    Placement now = placement;
    return now != null
        && now.generation() == generation + 1
        && now.generation() > 1
        && now.members().equals(target);
  }

  private @Nullable CatalogRefusal wrongGeneration(long generation) {
    Placement now = placement;
    if (now == null) {
      return CatalogRefusal.NOT_FOUNDED;
    }
    if (generation == now.generation()) {
      return null;
    }
    return generation >= 1 && generation < now.generation()
        ? CatalogRefusal.OLD_GENERATION
        : CatalogRefusal.UNKNOWN_GENERATION;
  }

  private static boolean good(List<NodeId> members) {
    return !members.isEmpty()
        && members.size() <= MAX_MEMBERS
        && members.stream().distinct().count() == members.size();
  }

  private CatalogAnswer changed() {
    return new Accepted(++position, placement);
  }

  private CatalogAnswer already() {
    return new Accepted(position, placement);
  }

  private CatalogAnswer refused(CatalogRefusal reason) {
    return new Refused(reason, placement);
  }
}
