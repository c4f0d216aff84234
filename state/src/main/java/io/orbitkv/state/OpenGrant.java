package io.orbitkv.state;

import java.util.UUID;

/**
 * A peer's right to read blocks that has not ended in full: it may be live, expired or draining.
 *
 * @param uuidHigh with {@code uuidLow} what the peer calls it
 * @param peer who may read
 * @param blocks each is pinned by the grant
 * @param bytes allocated bytes of the blocks
 * @param expiresAtMicros until when reads may begin, microseconds since 1970
 * @param position the position of the fact that opened it
 * @param atMicros when it was opened, microseconds since 1970
 */
public record OpenGrant(
    long id,
    long uuidHigh,
    long uuidLow,
    PeerId peer,
    LongRanges blocks,
    long bytes,
    long expiresAtMicros,
    long position,
    long atMicros) {

  /** What the peer calls it. */
  public UUID uuid() {
    return new UUID(uuidHigh, uuidLow);
  }

  long digestPart() {
    long hash = Mix.chain(Mix.chain(id ^ 0x64A97000L, uuidHigh), uuidLow);
    hash = Mix.chain(Mix.chain(peer.chain(hash), bytes), expiresAtMicros);
    return Mix.mix(Mix.chain(Mix.chain(Mix.chain(hash, position), atMicros), blocks));
  }
}
