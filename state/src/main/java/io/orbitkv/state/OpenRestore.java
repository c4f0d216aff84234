package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GroupLease;
import java.util.List;

/**
 * Submitted reads that have not all drained.
 *
 * @param leaseId the lease that they were submitted under; it may have been released since
 * @param blocks blocks that are read
 * @param bytes bytes that are read
 * @param held what the lease held: all of it stays pinned until the restore finishes
 * @param position the position of the fact that started it
 * @param atMicros when it started, microseconds since 1970
 */
public record OpenRestore(
    long id,
    long sessionId,
    long leaseId,
    int blocks,
    long bytes,
    List<GroupLease> held,
    long position,
    long atMicros) {

  long digestPart() {
    long hash = Mix.chain(Mix.chain(id ^ 0x4E570400L, sessionId), leaseId);
    hash = Mix.chain(Mix.chain(hash, blocks), bytes);
    return Mix.mix(OpenLease.chain(Mix.chain(Mix.chain(hash, position), atMicros), held));
  }
}
