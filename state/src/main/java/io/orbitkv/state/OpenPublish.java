package io.orbitkv.state;

/**
 * A publish whose bytes are being copied in.
 *
 * @param shard the shard whose slices it fills
 * @param blocks in request order; each is pinned by the publish
 * @param extentBytes allocated bytes of each slice
 * @param position the position of the fact that reserved the slices
 * @param atMicros when it began, microseconds since 1970
 */
public record OpenPublish(
    long id,
    long sessionId,
    String request,
    int namespaceId,
    int groupId,
    int shard,
    LongRanges blocks,
    int extentBytes,
    long position,
    long atMicros) {

  long digestPart() {
    long hash = Mix.chain(Mix.chain(id ^ 0x9B115400L, sessionId), request);
    hash = Mix.chain(Mix.chain(hash, ((long) namespaceId << 32) | groupId), shard);
    hash = Mix.chain(Mix.chain(Mix.chain(hash, extentBytes), position), atMicros);
    return Mix.mix(Mix.chain(hash, blocks));
  }
}
