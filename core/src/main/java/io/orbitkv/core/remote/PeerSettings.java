package io.orbitkv.core.remote;

/**
 * The bounds of work with other hosts. Bytes are allocated ones.
 *
 * @param maxFetchBytes the most bytes that are being read from others at one time
 * @param maxFetchBytesPerPeer the same of one other
 * @param maxLookups the most questions that are not answered
 * @param lookupMillis how long a question may take
 * @param readMillis how long a read may take, its grant included
 * @param maxGrantedBytes the most bytes that grants pin at one time
 * @param maxGrantedBytesPerPeer the same of one other
 * @param maxGrants the most grants that are open or draining
 * @param maxGrantMillis the longest validity of a grant
 * @param stagingMillis how long a grant waits for blocks that are on SSD
 * @param drainMillis how long the end of the daemon waits for grants to drain
 */
public record PeerSettings(
    long maxFetchBytes,
    long maxFetchBytesPerPeer,
    int maxLookups,
    long lookupMillis,
    long readMillis,
    long maxGrantedBytes,
    long maxGrantedBytesPerPeer,
    int maxGrants,
    long maxGrantMillis,
    long stagingMillis,
    long drainMillis) {

  /** The defaults for a pool of that size. */
  public static PeerSettings forPool(long poolBytes) {
    return new PeerSettings(
        Math.max(1, poolBytes / 2),
        Math.max(1, poolBytes / 4),
        256,
        500,
        5_000,
        Math.max(1, poolBytes / 2),
        Math.max(1, poolBytes / 4),
        1_024,
        30_000,
        2_000,
        3_000);
  }
}
