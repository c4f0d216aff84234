package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GroupLease;
import java.util.List;

/**
 * A lease that has not been released.
 *
 * @param ticketId the ticket that turned into it, 0 if none
 * @param position the position of the fact that granted it
 * @param atMicros when it was granted, microseconds since 1970
 */
public record OpenLease(
    long id,
    long sessionId,
    String request,
    long ticketId,
    long expiresAtMicros,
    List<GroupLease> held,
    long position,
    long atMicros) {

  /** Leased blocks of all groups. */
  public int blocks() {
    return blocks(held);
  }

  static int blocks(List<GroupLease> held) {
    int blocks = 0;
    for (GroupLease group : held) {
      blocks += group.blocks().size();
    }
    return blocks;
  }

  static long chain(long hash, List<GroupLease> held) {
    long chained = Mix.chain(hash, held.size());
    for (GroupLease group : held) {
      chained = Mix.chain(chained, ((long) group.groupId() << 32) | group.startToken());
      chained = Mix.chain(chained, group.blocks());
    }
    return chained;
  }

  long digestPart() {
    long hash = Mix.chain(Mix.chain(Mix.chain(id ^ 0x1EA5E000L, sessionId), request), ticketId);
    hash = Mix.chain(Mix.chain(Mix.chain(hash, expiresAtMicros), position), atMicros);
    return Mix.mix(chain(hash, held));
  }
}
