package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.CatalogAnswer.Accepted;
import io.orbitkv.state.catalog.CatalogAnswer.Refused;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import io.orbitkv.state.catalog.Handoff.Step;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
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

  /** The most owners that are known at a time; one that is fenced makes room for another. */
  public static final int MAX_OWNERS = 4_096;

  private final int catalogShard;
  private final TreeMap<NodeId, OwnerStream> owners = new TreeMap<>();
  private @Nullable Placement placement;
  private @Nullable Handoff handoff;
  private long lastAttempt;
  private long committedAttempt;
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
      long lastAttempt,
      long committedAttempt,
      @Nullable Handoff handoff,
      SortedMap<NodeId, OwnerStream> owners) {
    this.catalogShard = catalogShard;
    this.position = position;
    this.placement = placement;
    this.lastAttempt = lastAttempt;
    this.committedAttempt = committedAttempt;
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

  /** How many handoffs have been attempted, those that were rolled back too. */
  public long lastAttempt() {
    return lastAttempt;
  }

  /** The attempt that made the placement in force; 0 for the first one. */
  public long committedAttempt() {
    return committedAttempt;
  }

  /** The newest run of each owner, in the order of their names. */
  public SortedMap<NodeId, OwnerStream> owners() {
    return Collections.unmodifiableSortedMap(owners);
  }

  /** Does what a command asks, or says why not. */
  public CatalogAnswer apply(CatalogCommand command) {
    CatalogInvariants.Before before = CatalogInvariants.before(this, command);
    CatalogAnswer answer =
        switch (command) {
          case Found(List<NodeId> members) -> found(members);
          case OpenStream open -> open(open);
          case FenceOwner(NodeId owner, long epoch) -> fence(owner, epoch);
          case ForgetOwner(NodeId owner, long epoch) -> forget(owner, epoch);
          case PrepareHandoff(long generation, long last, List<NodeId> target) ->
              prepare(generation, last, target);
          case CaughtUp(long attempt) -> caughtUp(attempt);
          case CommitHandoff(long attempt) -> commit(attempt);
          case RetireHandoff(long attempt) -> retire(attempt);
          case RollBackHandoff(long attempt) -> rollBack(attempt);
        };
    before.check(this);
    return answer;
  }

  private CatalogAnswer found(List<NodeId> members) {
    if (placement != null) {
      boolean same =
          placement.generation() == 1 && good(members) && placement.hasSameHosts(members);
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
    if (known == null && owners.size() >= MAX_OWNERS && !forgetSomeFenced()) {
      return refused(CatalogRefusal.TOO_MANY_OWNERS);
    }
    owners.put(open.owner(), new OwnerStream(open.runtime(), open.epoch(), false));
    return changed();
  }

  /** Forgets the first fenced owner by name; false if none is fenced. */
  private boolean forgetSomeFenced() {
    for (Map.Entry<NodeId, OwnerStream> each : owners.entrySet()) {
      if (each.getValue().fenced()) {
        owners.remove(each.getKey());
        return true;
      }
    }
    return false;
  }

  private CatalogAnswer fence(NodeId owner, long epoch) {
    OwnerStream known = owners.get(owner);
    if (known == null || epoch < 1 || epoch > known.epoch()) {
      return refused(CatalogRefusal.UNKNOWN_RUN);
    }
    if (epoch < known.epoch() || known.fenced()) {
      return already();
    }
    owners.put(owner, new OwnerStream(known.runtime(), epoch, true));
    return changed();
  }

  private CatalogAnswer forget(NodeId owner, long epoch) {
    OwnerStream known = owners.get(owner);
    if (known == null) {
      return already();
    }
    if (epoch != known.epoch()) {
      return refused(epoch < known.epoch() ? CatalogRefusal.OLD_EPOCH : CatalogRefusal.UNKNOWN_RUN);
    }
    if (!known.fenced()) {
      return refused(CatalogRefusal.NOT_FENCED);
    }
    owners.remove(owner);
    return changed();
  }

  private CatalogAnswer prepare(long generation, long last, List<NodeId> target) {
    Placement now = placement;
    CatalogRefusal wrong = wrongGeneration(generation);
    if (now == null || wrong != null) {
      return refused(wrong == null ? CatalogRefusal.NOT_FOUNDED : wrong);
    }
    if (!good(target)) {
      return refused(CatalogRefusal.BAD_MEMBERS);
    }
    Handoff open = handoff;
    if (open != null) {
      boolean same =
          open.step() != Step.COMMITTED
              && open.attempt() == last + 1
              && sameHosts(open.target(), target);
      return same ? already() : refused(CatalogRefusal.HANDOFF_OPEN);
    }
    if (last != lastAttempt) {
      return refused(
          last >= 0 && last < lastAttempt
              ? CatalogRefusal.OLD_ATTEMPT
              : CatalogRefusal.UNKNOWN_ATTEMPT);
    }
    if (now.hasSameHosts(target)) {
      return refused(CatalogRefusal.NOTHING_TO_MOVE);
    }
    handoff = new Handoff(++lastAttempt, Step.PREPARED, target, now.members());
    return changed();
  }

  private CatalogAnswer caughtUp(long attempt) {
    Handoff open = handoff;
    if (open == null || open.attempt() != attempt) {
      return attempt > 0 && attempt == committedAttempt ? already() : refused(notOpen(attempt));
    }
    if (open.step() != Step.PREPARED) {
      return already();
    }
    handoff = open.at(Step.CAUGHT_UP);
    return changed();
  }

  private CatalogAnswer commit(long attempt) {
    Handoff open = handoff;
    if (attempt > 0 && attempt == committedAttempt) {
      return already();
    }
    if (open == null || open.attempt() != attempt) {
      return refused(notOpen(attempt));
    }
    if (open.step() != Step.CAUGHT_UP) {
      return refused(CatalogRefusal.NOT_CAUGHT_UP);
    }
    Placement now = Objects.requireNonNull(placement, "a handoff of no placement");
    placement = new Placement(catalogShard, now.generation() + 1, open.target());
    handoff = open.at(Step.COMMITTED);
    committedAttempt = attempt;
    return changed();
  }

  private CatalogAnswer retire(long attempt) {
    Handoff open = handoff;
    if (open == null || open.attempt() != attempt) {
      return attempt > 0 && attempt == committedAttempt ? already() : refused(notOpen(attempt));
    }
    if (open.step() != Step.COMMITTED) {
      return refused(CatalogRefusal.NOT_COMMITTED);
    }
    handoff = null;
    return changed();
  }

  private CatalogAnswer rollBack(long attempt) {
    Handoff open = handoff;
    if (attempt > 0 && attempt == committedAttempt) {
      return refused(CatalogRefusal.COMMITTED_ALREADY);
    }
    if (open == null || open.attempt() != attempt) {
      boolean rolledBack = attempt > 0 && attempt == lastAttempt;
      return rolledBack ? already() : refused(notOpen(attempt));
    }
    handoff = null;
    return changed();
  }

  /** Why nothing can be said of an attempt that is not the open one. */
  private CatalogRefusal notOpen(long attempt) {
    if (placement == null) {
      return CatalogRefusal.NOT_FOUNDED;
    }
    return attempt >= 1 && attempt <= lastAttempt
        ? CatalogRefusal.OLD_ATTEMPT
        : CatalogRefusal.UNKNOWN_ATTEMPT;
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

  private static boolean sameHosts(List<NodeId> some, List<NodeId> others) {
    return some.size() == others.size() && some.containsAll(others);
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
