package io.orbitkv.catalog.bench;

/**
 * How soon a change of an owner is seen by the lookups of a replica in another process.
 *
 * @param owners how many owners there were, each a process
 * @param changesPerSecond changes of each, one journal position each
 * @param visibility from the telling of a change to its being seen
 * @param rows rows that the replica has at the end
 * @param expectedRows rows that the owners have at the end
 */
public record VisibilityFigures(
    int owners, int changesPerSecond, Latencies visibility, long rows, long expectedRows) {}
