package io.orbitkv.state;

/**
 * Blocks that are being read from another host, or in quarantine after such a read.
 *
 * @param owner who is asked
 * @param blocks each is pinned by the read
 * @param bytes allocated bytes of the blocks
 * @param ticketId the ticket that was the first to want them, 0 if none
 * @param quarantined whether it has failed and bytes may still come
 * @param position the position of the fact that began it
 * @param atMicros when it began, microseconds since 1970
 */
public record OpenRemoteRead(
    long id,
    PeerId owner,
    int namespaceId,
    LongRanges blocks,
    long bytes,
    long ticketId,
    long forSessionId,
    String forRequest,
    boolean quarantined,
    long position,
    long atMicros) {

  OpenRemoteRead inQuarantine() {
    return new OpenRemoteRead(
        id,
        owner,
        namespaceId,
        blocks,
        bytes,
        ticketId,
        forSessionId,
        forRequest,
        true,
        position,
        atMicros);
  }

  long digestPart() {
    long hash = owner.chain(Mix.chain(id ^ 0x4E407E00L, namespaceId));
    hash = Mix.chain(Mix.chain(Mix.chain(hash, bytes), ticketId), forSessionId);
    hash = Mix.chain(Mix.chain(hash, forRequest), quarantined ? 1 : 0);
    return Mix.mix(Mix.chain(Mix.chain(Mix.chain(hash, position), atMicros), blocks));
  }
}
