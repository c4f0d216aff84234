package io.orbitkv.state;

/**
 * A ticket that has not been closed.
 *
 * @param awaited the blocks that its query waits for; they are not pinned
 * @param position the position of the fact that opened it
 * @param atMicros when it was opened, microseconds since 1970
 */
public record OpenTicket(
    long id, long sessionId, String request, LongRanges awaited, long position, long atMicros) {

  long digestPart() {
    long hash = Mix.chain(Mix.chain(id ^ 0x71C4E700L, sessionId), request);
    return Mix.mix(Mix.chain(Mix.chain(Mix.chain(hash, position), atMicros), awaited));
  }
}
