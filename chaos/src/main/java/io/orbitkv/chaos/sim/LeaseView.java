package io.orbitkv.chaos.sim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A lease as its holders know it. */
final class LeaseView {
  /**
   * The leased pages of one group.
   *
   * @param group index of the group in the model
   * @param fromToken where the first page begins
   * @param names of the pages, in order
   */
  record Held(int group, int fromToken, List<Name> names) {}

  final long id;
  final SimSession session;
  final List<Held> held;

  /** Place of its answer among all that was handled and answered. */
  final long granted;

  /** Monotonic. */
  final long deadlineMicros;

  /** Contents of each name that were dropped before the lease: what was published before this. */
  final Map<Name, Long> notBefore = new HashMap<>();

  /** What was read under it, by name and slice. */
  final Map<String, Long> seen = new HashMap<>();

  /** Something was done that may end it. */
  boolean ending;

  /** Somebody was told that it is over. */
  boolean ended;

  LeaseView(long id, SimSession session, List<Held> held, long granted, long deadlineMicros) {
    this.id = id;
    this.session = session;
    this.held = held;
    this.granted = granted;
    this.deadlineMicros = deadlineMicros;
  }

  @Override
  public String toString() {
    return "l" + id;
  }
}
