package io.orbitkv.journal;

import java.util.Optional;

/**
 * What the journal says of itself.
 *
 * @param lastPosition position of the last fact
 * @param part number of the part that is being written
 * @param partBytes bytes written to it
 * @param reservedBytes bytes reserved beyond them, in this part and the prepared next one
 * @param totalBytes disk space of the complete parts and of checkpoints when last counted, and what
 *     is written to the present part
 * @param parts how many parts there are, the present one among them
 * @param checkpointPosition position of the newest valid checkpoint, 0 if none
 * @param rolls parts begun by this process
 * @param flushedPosition position up to which facts are known to be on the disk
 * @param problem why room or a background task is lacking, empty when all is well
 */
public record JournalStats(
    long lastPosition,
    long part,
    long partBytes,
    long reservedBytes,
    long totalBytes,
    int parts,
    long checkpointPosition,
    long rolls,
    long flushedPosition,
    Optional<String> problem) {}
