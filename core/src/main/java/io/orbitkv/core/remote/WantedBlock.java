package io.orbitkv.core.remote;

import io.orbitkv.state.identity.StateKey;

/**
 * A block that a peer asks for.
 *
 * @param tier where the evidence said it is
 * @param generation its generation there, as in {@link RemoteCandidate}
 */
public record WantedBlock(StateKey key, RemoteTier tier, long generation) {}
