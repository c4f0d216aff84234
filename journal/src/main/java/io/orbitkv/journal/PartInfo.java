package io.orbitkv.journal;

import java.nio.file.Path;

/**
 * One part of a journal.
 *
 * @param number the number in its name
 * @param firstPosition position of its first fact, 0 when it holds none
 * @param firstAtMicros time of its first fact, microseconds since 1970
 * @param diskBytes size of its file; more than what it holds while it is being written
 */
public record PartInfo(
    long number, Path path, long firstPosition, long firstAtMicros, long diskBytes) {}
