package io.orbitkv.state.catalog;

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
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What holds of a catalog shard after every command: a generation has one placement for ever, the
 * next one follows it, a handoff goes from step to step under one number and with the placement,
 * and an owner's epochs never go back. Used by {@link CatalogState#apply}, by tests and by whoever
 * reads a snapshot.
 */
public final class CatalogInvariants {
  private CatalogInvariants() {}

  /**
   * What a command found.
   *
   * @param owner whose stream it is about, null if it is about none
   */
  record Before(
      @Nullable Placement placement,
      @Nullable Handoff handoff,
      long lastAttempt,
      long position,
      @Nullable NodeId owner,
      @Nullable OwnerStream stream) {

    /** Checks the step from here to what is there now. */
    void check(CatalogState after) {
      checkPosition(after);
      checkPlacement(after);
      checkHandoff(after);
      checkOwner(after);
      CatalogInvariants.check(after);
    }

    private void checkPosition(CatalogState after) {
      must(
          after.position() == position || after.position() == position + 1,
          after,
          "one command moved the position from " + position);
    }

    private void checkPlacement(CatalogState after) {
      Placement now = after.placement();
      if (placement == null) {
        must(now == null || now.generation() == 1, after, "the first placement is " + now);
      } else if (!placement.equals(now)) {
        must(
            now != null && now.generation() == placement.generation() + 1,
            after,
            now + " follows " + placement);
        must(
            handoff != null
                && handoff.step() == Step.CAUGHT_UP
                && now != null
                && handoff.target().equals(now.members()),
            after,
            now + " came of the handoff " + handoff);
      }
    }

    private void checkHandoff(CatalogState after) {
      Handoff now = after.handoff();
      long attempts = after.lastAttempt();
      if (handoff == null) {
        must(
            now == null
                ? attempts == lastAttempt
                : now.step() == Step.PREPARED
                    && attempts == lastAttempt + 1
                    && now.attempt() == attempts,
            after,
            "attempt " + lastAttempt + " was followed by " + now);
        return;
      }
      must(attempts == lastAttempt, after, "an attempt began while another was open");
      if (now == null) {
        must(
            handoff.step() == Step.COMMITTED || Objects.equals(placement, after.placement()),
            after,
            "an attempt that was given up moved the placement");
        return;
      }
      must(
          now.attempt() == handoff.attempt()
              && now.target().equals(handoff.target())
              && now.former().equals(handoff.former())
              && (now.step() == handoff.step() || next(handoff.step()) == now.step()),
          after,
          handoff + " became " + now);
    }

    private static @Nullable Step next(Step step) {
      return switch (step) {
        case PREPARED -> Step.CAUGHT_UP;
        case CAUGHT_UP -> Step.COMMITTED;
        case COMMITTED -> null;
      };
    }

    private void checkOwner(CatalogState after) {
      OwnerStream now = owner == null ? null : after.owners().get(owner);
      if (stream == null) {
        return;
      }
      if (now == null) {
        must(stream.fenced(), after, owner + " was forgotten without a fence");
        return;
      }
      boolean sameRun = now.epoch() == stream.epoch();
      must(
          now.epoch() >= stream.epoch()
              && (!sameRun || now.runtime().equals(stream.runtime()))
              && (!sameRun || now.fenced() || !stream.fenced()),
          after,
          owner + ": " + stream + " became " + now);
    }
  }

  /** What is there before a command, for {@link Before#check}. */
  static Before before(CatalogState state, CatalogCommand command) {
    NodeId owner =
        switch (command) {
          case OpenStream open -> open.owner();
          case FenceOwner fence -> fence.owner();
          case ForgetOwner forget -> forget.owner();
          case Found _, PrepareHandoff _, CaughtUp _ -> null;
          case CommitHandoff _, RetireHandoff _, RollBackHandoff _ -> null;
        };
    return new Before(
        state.placement(),
        state.handoff(),
        state.lastAttempt(),
        state.position(),
        owner,
        owner == null ? null : state.owners().get(owner));
  }

  /**
   * Checks everything that can be seen of a state alone.
   *
   * @throws BrokenCatalog naming the position
   */
  public static void check(CatalogState state) {
    Placement placement = state.placement();
    Handoff handoff = state.handoff();
    long committed = state.committedAttempt();
    must(
        committed >= 0 && committed <= state.lastAttempt(),
        state,
        "attempt " + committed + " of " + state.lastAttempt() + " is committed");
    must(
        placement == null
            ? state.lastAttempt() == 0 && handoff == null
            : (committed == 0) == (placement.generation() == 1),
        state,
        "attempt " + committed + " made " + placement);
    if (handoff != null) {
      boolean done = handoff.step() == Step.COMMITTED;
      must(
          placement != null
              && placement.members().equals(done ? handoff.target() : handoff.former()),
          state,
          "the members are not those of the handoff's " + handoff.step());
      must(
          handoff.attempt() == state.lastAttempt() && done == (handoff.attempt() == committed),
          state,
          "attempt " + handoff.attempt() + " is open, " + committed + " committed");
      must(
          !new TreeSet<>(handoff.target()).equals(new TreeSet<>(handoff.former())),
          state,
          "a handoff that moves nothing is open");
    }
    must(
        state.owners().size() <= CatalogState.MAX_OWNERS,
        state,
        state.owners().size() + " owners are known");
    must(
        state.position() > 0 || (state.position() == 0 && isEmpty(state)),
        state,
        "position " + state.position());
  }

  private static boolean isEmpty(CatalogState state) {
    return state.placement() == null && state.owners().isEmpty();
  }

  private static void must(boolean holds, CatalogState state, String what) {
    if (!holds) {
      throw new BrokenCatalog(state.catalogShard(), state.position(), what);
    }
  }
}
