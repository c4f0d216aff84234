package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.Handoff.Step;
import org.jspecify.annotations.Nullable;

/**
 * What holds of a catalog shard after every command: a generation has one placement for ever, the
 * next one follows it, a handoff is in exactly one step and goes with the placement. Used by {@link
 * CatalogState#apply}, by tests and by whoever reads a snapshot.
 */
public final class CatalogInvariants {
  private CatalogInvariants() {}

  /** Checks a step from one placement to what is there now. */
  static void checkStep(@Nullable Placement before, CatalogState after) {
    Placement now = after.placement();
    long generation = now == null ? 0 : now.generation();
    if (before == null) {
      must(generation <= 1, after, "the first generation is " + generation);
    } else if (!before.equals(now)) {
      must(
          generation == before.generation() + 1,
          after,
          "generation " + generation + " follows " + before.generation());
    }
    check(after);
  }

  /**
   * Checks everything that can be seen of a state alone.
   *
   * @throws BrokenCatalog naming the position
   */
  public static void check(CatalogState state) {
    Placement placement = state.placement();
    Handoff handoff = state.handoff();
    if (handoff != null) {
      boolean committed = handoff.step() == Step.COMMITTED;
      must(
          placement != null
              && placement.members().equals(committed ? handoff.target() : handoff.former()),
          state,
          "the members are not those of the handoff's " + handoff.step());
      must(
          !handoff.target().equals(handoff.former()),
          state,
          "a handoff that moves nothing is open");
    }
    state.owners().forEach((owner, stream) -> check(state, owner, stream));
  }

  private static void check(CatalogState state, NodeId owner, OwnerStream stream) {
    must(stream.epoch() >= 1, state, owner + " has epoch " + stream.epoch());
    must(
        stream.fenced() || !stream.runtime().equals(OwnerStream.NO_RUN),
        state,
        owner + " streams without a runtime");
  }

  private static void must(boolean holds, CatalogState state, String what) {
    if (!holds) {
      throw new BrokenCatalog(state.catalogShard(), state.position(), what);
    }
  }
}
