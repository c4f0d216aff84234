package io.orbitkv.catalog.lookup;

/**
 * Counts of a {@link CatalogLookup} since it was made.
 *
 * @param keys keys looked up
 * @param fromIndex keys answered from the candidate index
 * @param fromHere keys answered by this host's own tables
 * @param questions questions sent to other hosts
 * @param failures questions that came to nothing
 * @param stale questions that were answered with a newer placement
 * @param unanswered keys that nobody answered for
 */
public record LookupFigures(
    long keys,
    long fromIndex,
    long fromHere,
    long questions,
    long failures,
    long stale,
    long unanswered) {}
