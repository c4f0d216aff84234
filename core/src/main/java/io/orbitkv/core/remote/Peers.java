package io.orbitkv.core.remote;

import java.util.UUID;

/**
 * Other hosts as a loop is given them.
 *
 * @param runtime this run of this host, as peers name it
 */
public record Peers(
    PeerSettings settings, UUID runtime, RemoteBlocks blocks, GrantedRanges grants) {}
