package io.orbitkv.state;

/**
 * One entry of the journal.
 *
 * @param position consecutive number from 1 over the journal's whole life; a gap is corruption
 * @param atMicros wall clock of the loop when the fact was appended, microseconds since 1970
 */
public record Fact(long position, long atMicros, HostEvent event) {}
