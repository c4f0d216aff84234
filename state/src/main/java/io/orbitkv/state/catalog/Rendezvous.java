package io.orbitkv.state.catalog;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Who should hold a catalog shard, by highest random weight (Thaler and Ravishankar, "A name-based
 * mapping scheme for rendezvous", 1996): each host has a weight for each catalog shard, and the
 * heaviest hold it. A host that comes or goes moves only what it gains or held.
 *
 * <p>The weight is the first eight bytes, unsigned and big-endian, of the SHA-256 of {@code
 * orbitkv.placement.1}, a zero, the catalog shard in one byte and the node id.
 */
public final class Rendezvous {
  private static final byte[] DOMAIN = "orbitkv.placement.1\0".getBytes(StandardCharsets.US_ASCII);

  private record Weighed(NodeId host, long weight) {}

  private Rendezvous() {}

  /**
   * The hosts for a catalog shard, heaviest first.
   *
   * @param hosts at least one; repetitions count once
   * @param replicationFactor how many, at least 1; all hosts if there are fewer
   */
  public static List<NodeId> members(
      int catalogShard, Collection<NodeId> hosts, int replicationFactor) {
    if (hosts.isEmpty() || replicationFactor < 1) {
      throw new IllegalArgumentException(replicationFactor + " of the hosts " + hosts);
    }
    return hosts.stream()
        .distinct()
        .map(host -> new Weighed(host, weight(catalogShard, host)))
        .sorted(
            Comparator.comparingLong((Weighed each) -> each.weight() ^ Long.MIN_VALUE)
                .reversed()
                .thenComparing(Weighed::host))
        .limit(replicationFactor)
        .map(Weighed::host)
        .toList();
  }

  private static long weight(int catalogShard, NodeId host) {
    byte[] digest = digest(catalogShard, host);
    long weight = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      weight = weight << 8 | (digest[i] & 0xFF);
    }
    return weight;
  }

  private static byte[] digest(int catalogShard, NodeId host) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(DOMAIN);
      sha.update((byte) catalogShard);
      sha.update(host.text().getBytes(StandardCharsets.US_ASCII));
      return sha.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
