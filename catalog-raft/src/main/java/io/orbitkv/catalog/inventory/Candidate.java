package io.orbitkv.catalog.inventory;

/**
 * Evidence that an owner has a block. The owner says whether it is so when it is asked for a grant.
 *
 * @param owner who should have it
 * @param tier where
 * @param generation the block's generation there
 * @param lengthBytes its length over all shards, rounded up to 1 KiB
 */
public record Candidate(OwnerRun owner, Tier tier, long generation, long lengthBytes) {}
