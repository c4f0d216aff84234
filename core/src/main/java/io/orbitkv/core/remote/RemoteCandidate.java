package io.orbitkv.core.remote;

/**
 * Evidence that an owner has a block; only the owner knows whether it is so.
 *
 * @param generation the highest generation that the extents of the block's slices have in the tier
 */
public record RemoteCandidate(PeerRun owner, RemoteTier tier, long generation) {}
