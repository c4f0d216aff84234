package io.orbitkv.catalog.raft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;

/** Reads a {@link ReplicaStatus} off Ratis. */
final class ReplicaStatuses {
  private ReplicaStatuses() {}

  static ReplicaStatus of(int catalogShard, RaftServer.Division division) {
    DivisionInfo info = division.getInfo();
    RaftPeerId leader = info.getLeaderId();
    return new ReplicaStatus(
        catalogShard,
        info.getCurrentRole().name(),
        leader == null ? Optional.empty() : Optional.of(leader.toString()),
        info.getCurrentTerm(),
        division.getRaftLog().getLastCommittedIndex(),
        info.getLastAppliedIndex(),
        bytes(division.getRaftStorage().getStorageDir().getRoot().toPath()));
  }

  /** Files come and go while they are counted: one that is gone counts nothing. */
  private static long bytes(Path dir) {
    try (Stream<Path> files = Files.walk(dir)) {
      return files.mapToLong(ReplicaStatuses::fileBytes).sum();
    } catch (IOException | UncheckedIOException goneMeanwhile) {
      return 0;
    }
  }

  private static long fileBytes(Path file) {
    try {
      return Files.isRegularFile(file) ? Files.size(file) : 0;
    } catch (IOException gone) {
      return 0;
    }
  }
}
