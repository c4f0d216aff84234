package io.orbitkv.catalog.raft;

import java.util.Optional;

/**
 * How this host's replica of one catalog shard is.
 *
 * @param role LEADER, FOLLOWER, CANDIDATE or LISTENER, as Raft has it
 * @param leader the leader it knows of
 * @param term of the election it knows of
 * @param committed index of the last entry that is decided
 * @param applied index of the last entry that was applied
 * @param logBytes what logs and snapshots take on disk
 */
public record ReplicaStatus(
    int catalogShard,
    String role,
    Optional<String> leader,
    long term,
    long committed,
    long applied,
    long logBytes) {}
