package io.orbitkv.catalog.inventory;

import io.orbitkv.state.catalog.NodeId;

/** Opens streams to replicas. */
@FunctionalInterface
public interface InventoryDialer {
  /**
   * Opens a stream, without waiting for an answer.
   *
   * @param replica the host
   * @param run this host's run
   * @param catalogShard the catalog shard
   * @param listener told what comes of it, also when nothing does
   */
  InventoryLink open(
      NodeId replica, OwnerRun run, int catalogShard, InventoryLink.Listener listener);
}
