package io.orbitkv.catalog.peer;

import java.time.Duration;

/**
 * Bounds of what is under way with one peer, on each side.
 *
 * @param maxCalls calls at one time
 * @param maxCallBytes bytes of their requests
 * @param maxStreams inventory streams and subscriptions at one time
 * @param maxMessageBytes the longest message
 * @param callTimeout deadline of calls that name none, and the longest that any may name
 * @param failuresToOpen failures in a row after which a peer is left alone for a while
 * @param firstWait the first such while
 * @param longestWait the longest one
 */
public record PeerLimits(
    int maxCalls,
    long maxCallBytes,
    int maxStreams,
    int maxMessageBytes,
    Duration callTimeout,
    int failuresToOpen,
    Duration firstWait,
    Duration longestWait) {

  /** 256 calls of 16 MiB, 128 streams, messages of 4 MiB, 5 s; five failures, 0.1 s to 5 s. */
  public static final PeerLimits DEFAULT =
      new PeerLimits(
          256,
          16 << 20,
          128,
          4 << 20,
          Duration.ofSeconds(5),
          5,
          Duration.ofMillis(100),
          Duration.ofSeconds(5));
}
