package io.orbitkv.manager.replay;

import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.state.BrokenInvariant;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/**
 * {@code --verify}: proves that the journal folds into what the daemon had. Every fact passes the
 * cheap invariants, every so many facts and at the end all of them; every digest that the daemon
 * recorded is compared; and the way through the newest checkpoint must end in the same digest as
 * the way from the oldest fact.
 */
public final class Verify {
  private Verify() {}

  /** Compares what a recorded digest says beside the digest itself. */
  private static final class Figures extends Watcher {
    @Nullable String wrong;

    Figures(Progress progress) {
      super(progress);
    }

    @Override
    void see(Fact fact, HostState before) {
      if (wrong == null
          && fact.event() instanceof HostEvent.DigestRecorded recorded
          && (recorded.liveBlocks() != before.liveBlocks()
              || recorded.openLeases() != before.openLeases())) {
        wrong =
            "position %s: the daemon had %s and %s, the fold has %s and %s"
                .formatted(
                    Words.count(fact.position()),
                    Words.count(recorded.liveBlocks(), "live block"),
                    Words.count(recorded.openLeases(), "open lease"),
                    Words.count(before.liveBlocks()),
                    Words.count(before.openLeases()));
      }
    }
  }

  /**
   * Verifies and prints the verdict.
   *
   * @param deepEvery facts between two checks of all invariants, 0 for only at the end
   * @return whether everything held
   */
  public static boolean run(JournalDir dir, long deepEvery, PrintWriter out, Progress progress)
      throws IOException {
    Figures figures = new Figures(progress);
    Replay replay = dir.fold(ReplayOptions.VERIFY.deepCheckEvery(deepEvery), figures);
    HostState state = replay.state();
    Notes.of(replay).forEach(note -> out.println("note: " + note));
    String problem = problem(replay, figures);
    if (problem == null) {
      problem = deepProblem(state);
    }
    if (problem == null) {
      problem = checkpointProblem(dir, state);
    }
    String folded =
        "%s, %s"
            .formatted(
                replay.facts() == 0
                    ? "no fact folded"
                    : "%s folded from position %s to %s"
                        .formatted(
                            Words.count(replay.facts(), "fact"),
                            Words.count(replay.checkpointPosition() + 1),
                            Words.count(state.position())),
                deepEvery == 0
                    ? "all invariants checked at the end"
                    : "all invariants checked every "
                        + Words.count(deepEvery, "fact")
                        + " and at the end");
    if (problem != null) {
      out.println("replay differs: " + problem);
      out.println("  " + folded);
    } else if (replay.digestsVerified() == 0) {
      out.println("no digest to compare: the daemon recorded none; every invariant holds");
      out.println("  " + folded);
    } else {
      out.println("replay digest equal");
      out.printf(
          "  %s; %s equal; digest at the end %s%n",
          folded,
          Words.count(replay.digestsVerified(), "recorded digest"),
          Words.hex(state.digest()));
    }
    out.flush();
    return problem == null;
  }

  private static @Nullable String problem(Replay replay, Figures figures) {
    if (!replay.wrongDigests().isEmpty()) {
      Replay.WrongDigest first = replay.wrongDigests().getFirst();
      return "the digest recorded at position %s is %s, the fold has %s"
          .formatted(
              Words.count(first.position()),
              Words.hex(first.recorded()),
              Words.hex(first.folded()));
    }
    if (figures.wrong != null) {
      return figures.wrong;
    }
    return switch (replay.ending()) {
      case Replay.Ending.Complete _, Replay.Ending.Stopped _ ->
          replay.passedFrom() != 0
              ? "the facts from position %s to %s could not be folded"
                  .formatted(
                      Words.count(replay.passedFrom()), Words.count(replay.checkpointPosition()))
              : replay.corruptions().isEmpty()
                  ? null
                  : "after position "
                      + Words.count(replay.corruptions().getFirst().afterPosition())
                      + " bytes are damaged";
      case Replay.Ending.Corrupted(var corruption) ->
          "facts are missing after position " + Words.count(corruption.afterPosition());
      case Replay.Ending.NoStart(long first) ->
          "nothing says what the state was before position " + Words.count(first);
      case Replay.Ending.Unreadable(String message) -> message;
      case Replay.Ending.Broken(BrokenInvariant broken) -> String.valueOf(broken.getMessage());
    };
  }

  private static @Nullable String deepProblem(HostState state) {
    try {
      HostInvariants.checkDeep(state);
      return null;
    } catch (BrokenInvariant e) {
      return e.getMessage();
    }
  }

  private static @Nullable String checkpointProblem(JournalDir dir, HostState state)
      throws IOException {
    Replay quick = dir.fold(ReplayOptions.QUICK.toPosition(state.position()), ReplayHooks.NONE);
    if (quick.state().digest() == state.digest()) {
      return null;
    }
    return "through the checkpoint at position %s the digest at %s is %s, from the oldest fact %s"
        .formatted(
            Words.count(quick.checkpointPosition()),
            Words.count(state.position()),
            Words.hex(quick.state().digest()),
            Words.hex(state.digest()));
  }
}
