package io.orbitkv.catalog.membership;

import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.state.catalog.NodeId;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The members as etcd had them at one revision. While etcd is away it is the last one that was
 * read.
 *
 * @param revision etcd's revision, 0 before the first read
 * @param members the live hosts by node id
 * @param hosts the catalog's host set, once it is agreed
 */
public record MemberSnapshot(
    long revision, SortedMap<NodeId, MemberRecord> members, Optional<HostSet> hosts) {
  /** Before etcd was ever read. */
  public static final MemberSnapshot NONE =
      new MemberSnapshot(0, new TreeMap<>(), Optional.empty());

  /** Copies the map. */
  public MemberSnapshot {
    members = Collections.unmodifiableSortedMap(new TreeMap<>(members));
  }

  /** The record of a host, if it is live. */
  public Optional<MemberRecord> member(NodeId node) {
    return Optional.ofNullable(members.get(node));
  }

  /** Whether exactly this run is live. */
  public boolean isLive(OwnerRun run) {
    MemberRecord record = members.get(run.node());
    return record != null && record.run().equals(run);
  }

  /** Whether the same members and hosts are in another snapshot, whatever its revision. */
  boolean isSameAs(MemberSnapshot other) {
    return members.equals((Map<NodeId, MemberRecord>) other.members) && hosts.equals(other.hosts);
  }
}
