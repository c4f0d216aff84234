package io.orbitkv.transfer;

/**
 * Every range has come and its verifier agreed.
 *
 * @param bytes how many
 * @param ranges how many
 * @param pieces over how many requests to the source they were spread
 * @param nanos from the call to the receipt
 */
public record Receipt(long bytes, int ranges, int pieces, long nanos) implements ReadOutcome {}
