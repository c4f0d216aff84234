package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.state.catalog.Placement;
import java.util.Optional;

/** What an order came to. */
public sealed interface HandoffReport {

  /**
   * How the handoff is.
   *
   * @param current the placement in force
   * @param next the one to come, while a handoff is under way
   * @param attempt the number of the handoff that is under way, or of the last one; 0 before any
   * @param step its step, empty when none is under way
   * @param progress for people
   */
  record Status(
      Placement current, Optional<Placement> next, long attempt, String step, String progress)
      implements HandoffReport {}

  /** The order was not taken. */
  record Refused(Refusal refusal) implements HandoffReport {}
}
