package io.orbitkv.state.recovery;

import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.TokenSpan;
import java.util.List;

/**
 * All that must be restored for the engine to go on at {@code tail.end()} when it already holds a
 * valid prefix up to {@code tail.start()}. A demand promises nothing about what is cached.
 *
 * @param namespace where the blocks must come from
 * @param tail the span between the engine's own prefix and the boundary
 * @param ranges one range for each group, in ascending order of the group id
 */
public record RecoveryDemand(Namespace namespace, TokenSpan tail, List<GroupRange> ranges) {

  /** Copies the ranges. */
  public RecoveryDemand {
    ranges = List.copyOf(ranges);
  }

  /** The boundary at which the engine goes on, in tokens. */
  public int boundary() {
    return tail.end();
  }
}
