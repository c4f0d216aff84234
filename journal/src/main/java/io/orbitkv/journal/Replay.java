package io.orbitkv.journal;

import io.orbitkv.state.BrokenInvariant;
import io.orbitkv.state.HostState;
import java.util.List;
import java.util.Optional;

/**
 * What a fold came to.
 *
 * @param state the state after the last fact that was applied; to be discarded after {@link
 *     Ending.Broken}
 * @param checkpointPosition position of the checkpoint it started from, 0 for an empty state
 * @param passedFrom position of the oldest fact that is there and lies before the only checkpoint
 *     that could be used, so that it and those up to the checkpoint were not folded; 0 where there
 *     is none
 * @param facts how many facts were applied
 * @param ending why it ended
 * @param corruptions damage that was passed and cost no fact that was needed
 * @param tail bytes behind the last whole record, when the end of the journal was reached
 * @param cuts torn tails that earlier recoveries had cut
 * @param damagedCheckpoints checkpoints that could not be used, and why
 * @param digestsVerified how many recorded digests were equal
 * @param wrongDigests those that were not
 */
public record Replay(
    HostState state,
    long checkpointPosition,
    long passedFrom,
    long facts,
    Ending ending,
    List<Corruption> corruptions,
    Optional<Corruption> tail,
    long cuts,
    List<String> damagedCheckpoints,
    long digestsVerified,
    List<WrongDigest> wrongDigests) {

  /** A recorded digest that the fold does not have. */
  public record WrongDigest(long position, long recorded, long folded) {}

  /** Why a fold ended. */
  public sealed interface Ending {
    /** Everything that was asked for was folded. */
    record Complete() implements Ending {}

    /** {@link ReplayHooks#stop} said so. */
    record Stopped() implements Ending {}

    /** Facts are missing. */
    record Corrupted(Corruption corruption) implements Ending {}

    /** The oldest fact is not the first one, and no checkpoint stands before it. */
    record NoStart(long firstPosition) implements Ending {}

    /** A record of a newer version. */
    record Unreadable(String message) implements Ending {}

    /** A fact contradicts the state. */
    record Broken(BrokenInvariant invariant) implements Ending {}
  }

  /** Whether every fact that was asked for and is there was folded. */
  public boolean complete() {
    return ending instanceof Ending.Complete && passedFrom == 0;
  }

  /** Whether it is complete, every digest was equal and nothing was damaged. */
  public boolean clean() {
    return complete() && wrongDigests.isEmpty() && corruptions.isEmpty();
  }
}
