package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.state.catalog.NodeId;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a host takes part in the agreement.
 *
 * @param cluster name of the cluster: servers of others have other groups and are not heard
 * @param node this host
 * @param listen where its server listens; other hosts must reach it there for as long as it is a
 *     member, since the log itself has the addresses
 * @param dir where logs and snapshots are; whoever loses it comes back under another node id
 * @param tls certificates for both directions; without them whoever reaches the port is heard
 * @param electionTimeoutMillis after so long without a leader a follower stands for election, up to
 *     twice as long, 150 to 60,000
 * @param answerTimeoutMillis how long a proposal or a read may take, 100 to 60,000
 * @param snapshotEvery entries after which a snapshot is taken and the log is cut, at least 16
 */
public record RaftOptions(
    String cluster,
    NodeId node,
    Endpoint listen,
    Path dir,
    Optional<RaftTls> tls,
    int electionTimeoutMillis,
    int answerTimeoutMillis,
    int snapshotEvery) {
  /** What a follower waits for before it stands for election, unless told otherwise. */
  public static final int ELECTION_TIMEOUT_MILLIS = 1_000;

  /** How long an answer may take, unless told otherwise. */
  public static final int ANSWER_TIMEOUT_MILLIS = 3_000;

  /** Entries between snapshots, unless told otherwise: a log of some hundred KiB. */
  public static final int SNAPSHOT_EVERY = 1_024;

  /** Refuses what makes no sense. */
  public RaftOptions {
    inRange("electionTimeoutMillis", electionTimeoutMillis, 150, 60_000);
    inRange("answerTimeoutMillis", answerTimeoutMillis, 100, 60_000);
    inRange("snapshotEvery", snapshotEvery, 16, 1 << 20);
  }

  /** With times and sizes that suit most. */
  public static RaftOptions of(
      String cluster, NodeId node, Endpoint listen, Path dir, Optional<RaftTls> tls) {
    return new RaftOptions(
        cluster,
        node,
        listen,
        dir,
        tls,
        ELECTION_TIMEOUT_MILLIS,
        ANSWER_TIMEOUT_MILLIS,
        SNAPSHOT_EVERY);
  }

  private static void inRange(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s is %d, not %d to %d".formatted(name, value, least, most));
    }
  }
}
