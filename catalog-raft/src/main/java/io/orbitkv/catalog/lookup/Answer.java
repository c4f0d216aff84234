package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.state.catalog.Placement;
import java.util.List;

/** What a replica says to a {@link Question}. */
public sealed interface Answer {

  /**
   * What it knows.
   *
   * @param byKey the candidates of each key, in the order of the question
   * @param whole whether it has a whole view of every live owner; else another replica may know
   *     more
   */
  record Found(List<List<Candidate>> byKey, boolean whole) implements Answer {}

  /**
   * The asker's placement is old.
   *
   * @param current a newer one
   */
  record Stale(Placement current) implements Answer {}

  /**
   * No answer: the replica could not be reached, or has reasons.
   *
   * @param refusal why
   */
  record Refused(Refusal refusal) implements Answer {}
}
