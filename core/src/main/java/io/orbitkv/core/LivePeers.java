package io.orbitkv.core;

import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.core.remote.PeerSettings;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.remote.RemoteBlocks;
import io.orbitkv.state.catalog.NodeId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.agrona.collections.Long2LongCounterMap;
import org.agrona.collections.Long2ObjectHashMap;

/** What this epoch knows of work with other hosts beside the fold. */
final class LivePeers {
  final PeerSettings settings;
  final UUID runtime;
  final RemoteBlocks blocks;
  final GrantedRanges ranges;

  // What is asked and read.
  final Long2ObjectHashMap<LiveTicket> lookups = new Long2ObjectHashMap<>();
  final Long2ObjectHashMap<LiveFetch> fetches = new Long2ObjectHashMap<>();
  long nextLookupId = 1;

  // What others may read.
  final Map<UUID, LiveGrant> grants = new LinkedHashMap<>();
  final List<StagedGrant> staged = new ArrayList<>();
  final PeerDrain drain = new PeerDrain();

  /** Bytes that are being read, or in quarantine. */
  final BytesByNode fetching = new BytesByNode();

  /** Bytes that grants pin, or will once they are staged. */
  final BytesByNode granted = new BytesByNode();

  // Since the epoch began.
  long refusedFetches;
  long refusedGrants;

  /** Blocks that stay in DRAM for somebody who waits, on a host without an SSD tier. */
  private final Long2LongCounterMap held = new Long2LongCounterMap(0);

  LivePeers(Peers peers) {
    this.settings = peers.settings();
    this.runtime = peers.runtime();
    this.blocks = peers.blocks();
    this.ranges = peers.grants();
  }

  void hold(long blockId) {
    held.incrementAndGet(blockId);
  }

  void letGo(long blockId) {
    held.decrementAndGet(blockId);
  }

  boolean holds(long blockId) {
    return held.get(blockId) != 0;
  }

  int heldBlocks() {
    return held.size();
  }

  /** Whether nothing is under way but what nobody knows the end of. */
  boolean idle() {
    for (LiveFetch fetch : fetches.values()) {
      if (!fetch.quarantined) {
        return false;
      }
    }
    return staged.isEmpty() && (grants.isEmpty() || drain.over);
  }

  /** Bytes in all and of each other host. */
  static final class BytesByNode {
    private final Map<NodeId, Long> byNode = new HashMap<>();
    private long total;

    long total() {
      return total;
    }

    /** What is larger than a bound by itself fits where there is nothing else. */
    boolean fits(NodeId node, long bytes, long bound, long boundOfNode) {
      long of = byNode.getOrDefault(node, 0L);
      return (total == 0 || bytes <= bound - total) && (of == 0 || bytes <= boundOfNode - of);
    }

    void add(NodeId node, long bytes) {
      total += bytes;
      byNode.merge(node, bytes, Long::sum);
    }

    void subtract(NodeId node, long bytes) {
      total -= bytes;
      byNode.computeIfPresent(node, (_, of) -> of == bytes ? null : of - bytes);
    }
  }
}
