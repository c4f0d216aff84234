package io.orbitkv.client;

/**
 * The right to read some sealed blocks. Any session of the instance may restore under it and
 * release it, so that the two numbers may travel to another process.
 *
 * @param leaseId the Manager's number
 * @param epoch the daemon run that granted it; in any other it is dead
 */
public record Lease(long leaseId, long epoch) {}
