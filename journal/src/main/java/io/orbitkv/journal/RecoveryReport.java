package io.orbitkv.journal;

import java.util.List;
import java.util.Optional;

/**
 * How a state was recovered.
 *
 * @param checkpointPosition position of the checkpoint it started from, 0 for none
 * @param foldedFacts facts folded behind it
 * @param lastPosition position of the last whole fact
 * @param tail what was cut behind the last whole record
 * @param corruptions damage that cost no fact that was needed
 * @param damagedCheckpoints checkpoints that could not be used, and why
 * @param wrongDigests recorded digests that the fold does not have
 * @param millis how long it took
 */
public record RecoveryReport(
    long checkpointPosition,
    long foldedFacts,
    long lastPosition,
    Optional<Corruption> tail,
    List<Corruption> corruptions,
    List<String> damagedCheckpoints,
    List<Replay.WrongDigest> wrongDigests,
    long millis) {}
