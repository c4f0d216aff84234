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

  /** No stream of this owner with that epoch or a lower one counts any more. */
  record FenceOwner(NodeId owner, long epoch) implements CatalogCommand {}

  /**
   * Members are to become others: new ones join and owners stream to both sets.
   *
   * @param generation of the placement that is to be replaced
   */
  record PrepareHandoff(long generation, List<NodeId> target) implements CatalogCommand {
    /** Copies the list. */
    public PrepareHandoff {
      target = List.copyOf(target);
    }
  }

  /** The new members have what the old ones have. */
  record CaughtUp(long generation, List<NodeId> target) implements CatalogCommand {
    /** Copies the list. */
    public CaughtUp {
      target = List.copyOf(target);
    }
  }

  /** The target becomes the placement of the next generation. */
  record CommitHandoff(long generation, List<NodeId> target) implements CatalogCommand {
    /** Copies the list. */
    public CommitHandoff {
      target = List.copyOf(target);
    }
  }

  /**
   * Members that left have let go of the catalog shard: the handoff is over.
   *
   * @param generation of the placement that the handoff made
   */
  record RetireHandoff(long generation) implements CatalogCommand {}

  /** The handoff is given up; possible until it is committed. */
  record RollBackHandoff(long generation, List<NodeId> target) implements CatalogCommand {
    /** Copies the list. */
    public RollBackHandoff {
      target = List.copyOf(target);
    }
  }
}
