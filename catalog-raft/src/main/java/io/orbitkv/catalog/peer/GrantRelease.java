package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.inventory.OwnerRun;
import java.util.UUID;

/**
 * A requester gives a grant back.
 *
 * @param requester the run that got it
 * @param grantId the grant
 * @param drained whether no read of it can be under way any more; if not, the owner waits for proof
 * @param outcome what came of it, for the owner's journal
 */
public record GrantRelease(OwnerRun requester, UUID grantId, boolean drained, String outcome) {}
