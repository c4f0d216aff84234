package io.orbitkv.transfer;

import java.util.Map;

/**
 * Counts since the engine was made, and what is under way now.
 *
 * @param readsBegun reads asked for here
 * @param readsDone those that gave a receipt
 * @param failures those that did not, by the failure's name
 * @param bytesRead bytes of receipts
 * @param bytesInFlight destination bytes that are not released
 * @param readsInQuarantine reads that have ended and whose destination is not released
 * @param retries pieces that were asked for again because their connection was closed for another
 *     read
 * @param requestsServed requests of peers that were served whole
 * @param bytesServed bytes sent for them
 * @param refusals requests and connections that were refused, by reason
 * @param badFrames connections closed for bytes that the protocol does not allow
 * @param stalled connections closed because nothing moved
 * @param inboundConnections connections of peers that are open
 * @param outboundConnections connections to peers that are open
 * @param grants grants that are live or draining
 * @param grantedReads reads of peers that are under way
 */
public record TransferStats(
    long readsBegun,
    long readsDone,
    Map<String, Long> failures,
    long bytesRead,
    long bytesInFlight,
    long readsInQuarantine,
    long retries,
    long requestsServed,
    long bytesServed,
    Map<Refusal, Long> refusals,
    long badFrames,
    long stalled,
    int inboundConnections,
    int outboundConnections,
    int grants,
    long grantedReads) {}
