package io.orbitkv.state.catalog;

import java.util.List;

/**
 * A change of a placement that is not over.
 *
 * <pre>
 *   prepare --> PREPARED -- caught up --> CAUGHT_UP -- commit --> COMMITTED -- retire --> over
 *                  \-------- roll back ------/ --> over, nothing changed
 * </pre>
 *
 * <p>The placement becomes the target's at the commit, in one step of the log, with the next
 * generation.
 *
 * @param attempt its number: handoffs of a catalog shard are counted, those rolled back too
 * @param target the members to be, or that are since the commit
 * @param former the members before
 */
public record Handoff(long attempt, Step step, List<NodeId> target, List<NodeId> former) {

  /** How far a handoff is. */
  public enum Step {
    /** New members join; owners stream to both sets. */
    PREPARED,
    /** The new members have everything. */
    CAUGHT_UP,
    /** The target is in force; those that left have yet to let go. */
    COMMITTED
  }

  /** Copies the lists. */
  public Handoff {
    if (attempt < 1) {
      throw new IllegalArgumentException("attempt " + attempt);
    }
    target = List.copyOf(target);
    former = List.copyOf(former);
  }

  Handoff at(Step next) {
    return new Handoff(attempt, next, target, former);
  }
}
