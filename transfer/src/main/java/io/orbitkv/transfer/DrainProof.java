package io.orbitkv.transfer;

import java.util.UUID;

/**
 * Says that no read of a grant is under way and none will begin: its ranges may be used again.
 *
 * @param grant the revoked grant
 * @param reads how many reads it admitted
 */
public record DrainProof(UUID grant, long reads) {}
