package io.orbitkv.state.catalog;

import java.util.List;
import java.util.UUID;

/**
 * What can be asked of a catalog shard's log. Each may come twice, since whoever sent it may not
 * have had the answer: the second time it is accepted and changes nothing.
 */
public sealed interface CatalogCommand {

  /** The first placement, generation 1. */
  record Found(List<NodeId> members) implements CatalogCommand {
    /** Copies the list. */
    public Found {
      members = List.copyOf(members);
    }
  }

  /**
   * An owner begins to stream its inventory.
   *
   * @param runtime of the owner's daemon, as its member record has it; not the UUID of zeros
   * @param epoch of that daemon, from 1; each start of a node has a higher one
   */
  record OpenStream(NodeId owner, UUID runtime, long epoch) implements CatalogCommand {
    /** Refuses a runtime that is none. */
    public OpenStream {
      if (runtime.equals(OwnerStream.NO_RUN)) {
        throw new IllegalArgumentException("a stream of no runtime");
      }
    }
  }

  /**
   * No stream of this owner with that epoch or a lower one counts any more.
   *
   * @param epoch of a run that has streamed: a fence above it would lock out runs to come
   */
  record FenceOwner(NodeId owner, long epoch) implements CatalogCommand {}

  /**
   * A fenced owner is not coming back, and its entry goes. Whoever sends it has seen that no member
   * has that name; should the old run speak once more nevertheless, lookups leave it out, since
   * they count members only.
   *
   * @param epoch of the fence
   */
  record ForgetOwner(NodeId owner, long epoch) implements CatalogCommand {}

  /**
   * Members are to become others: new ones join and owners stream to both sets. It begins attempt
   * {@code lastAttempt + 1}; all that follows names that attempt, so that nothing that was said of
   * an earlier one is taken for it.
   *
   * @param generation of the placement that is to be replaced
   * @param lastAttempt the last attempt that the sender knows of, 0 before the first
   */
  record PrepareHandoff(long generation, long lastAttempt, List<NodeId> target)
      implements CatalogCommand {
    /** Copies the list. */
    public PrepareHandoff {
      target = List.copyOf(target);
    }
  }

  /** The new members of an attempt have what the old ones have. */
  record CaughtUp(long attempt) implements CatalogCommand {}

  /** The target of an attempt becomes the placement of the next generation. */
  record CommitHandoff(long attempt) implements CatalogCommand {}

  /** Members that left have let go of the catalog shard: the handoff is over. */
  record RetireHandoff(long attempt) implements CatalogCommand {}

  /** The attempt is given up; possible until it is committed. */
  record RollBackHandoff(long attempt) implements CatalogCommand {}
}
