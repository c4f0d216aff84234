package io.orbitkv.core.ssd;

import io.orbitkv.core.eviction.EvictionPolicy;

/**
 * The SSD tier as a loop is given it.
 *
 * @param tierIdHigh with {@code tierIdLow} the UUID that the tier's files carry
 * @param fileBytes bytes of each file, from offset 0; belongs to the tier
 * @param extents books in which nothing is in use; belongs to the loop
 * @param report told what ails the tier
 * @param policy which block leaves SSD first; holds nothing yet and belongs to the loop
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record SsdTier(
    SsdSettings settings,
    long tierIdHigh,
    long tierIdLow,
    long[] fileBytes,
    SsdExtents extents,
    EvictionPolicy policy,
    SsdStore store,
    SsdReport report) {}
