package io.orbitkv.core;

import io.orbitkv.state.BlockState;
import io.orbitkv.state.HostEvent.SessionRole;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of the state that an operator can look at; each question has one kind of answer. */
public sealed interface Inspection {

  /** The daemon as a whole. */
  record Status() implements Inspection {}

  record Instances() implements Inspection {}

  /** The namespaces that are bound, whether an instance uses them now or not. */
  record Namespaces() implements Inspection {}

  record Sessions() implements Inspection {}

  /**
   * Open leases.
   *
   * @param limit the most leases listed, in ascending order of their id after {@code afterLeaseId}
   */
  record Leases(long afterLeaseId, int limit) implements Inspection {}

  /**
   * Blocks of a namespace.
   *
   * @param limit the most blocks listed, in ascending order of their id after {@code afterBlockId}
   */
  record Blocks(String namespace, long afterBlockId, int limit) implements Inspection {}

  /** What was asked for. */
  sealed interface Answer {}

  /**
   * The daemon as a whole.
   *
   * @param uptimeMicros since the epoch began
   * @param position of the last fact
   * @param budgetUsedBytes bytes charged for leases, waiting queries and restores
   */
  record StatusAnswer(
      long epoch,
      long uptimeMicros,
      long position,
      long digest,
      boolean draining,
      String eviction,
      PoolView pool,
      long namespaces,
      long instances,
      long sessions,
      long blocks,
      long sealedBlocks,
      long openLeases,
      long openTickets,
      long openPublishes,
      long openRestores,
      long budgetUsedBytes,
      long budgetLimitBytes,
      boolean journalHasRoom,
      @Nullable SsdView ssd)
      implements Answer {}

  /**
   * The SSD tier.
   *
   * @param capacityBytes that extents can have
   * @param extents in use, those of writes under way among them
   * @param copiedBlocks blocks that have a copy or are about to get one
   * @param onlyBlocks blocks that are nowhere else, those on the way back among them
   * @param queuedBytes on their way to the disk
   * @param loadingBytes on their way back
   * @param tasks submitted and not ended
   * @param backlogBlocks admitted, and waiting for room in the queue
   * @param asideBlocks that wait until the disk takes writes again
   * @param admittedBytes of blocks whose write was begun, since the start
   * @param skippedBlocks that were to be written and left before they were, since the start
   * @param refusedLoads reads that were not begun since the start, for want of memory or because
   *     the disk hung
   * @param problems for people
   */
  record SsdView(
      long capacityBytes,
      long usedBytes,
      int extents,
      long copiedBlocks,
      long onlyBlocks,
      long loadingBlocks,
      long queuedBytes,
      long loadingBytes,
      int tasks,
      int backlogBlocks,
      long backlogBytes,
      int asideBlocks,
      long admittedBytes,
      long skippedBlocks,
      long refusedLoads,
      long readErrors,
      long writeErrors,
      String admission,
      List<String> problems) {}

  /**
   * The DRAM pool.
   *
   * @param fragmentation share of free memory outside the largest free run, 0 to 1
   */
  record PoolView(
      long poolBytes,
      long usedBytes,
      long freeBytes,
      long largestFreeBytes,
      int extents,
      double fragmentation) {}

  record InstancesAnswer(List<InstanceView> instances) implements Answer {}

  record InstanceView(
      long instanceId,
      String instance,
      String namespace,
      int sessions,
      boolean cleaning,
      long budgetUsedBytes) {}

  record NamespacesAnswer(List<NamespaceView> namespaces) implements Answer {}

  /**
   * A namespace.
   *
   * @param shards slices of a block that is not replicated
   * @param blocks of all groups, evicted ones that are still pinned among them
   * @param instances registered
   */
  record NamespaceView(String namespace, String model, int shards, long blocks, int instances) {}

  record SessionsAnswer(List<SessionView> sessions) implements Answer {}

  record SessionView(
      long sessionId,
      long instanceId,
      String instance,
      String namespace,
      int shard,
      SessionRole role,
      int pid,
      int uid,
      long openedAtMicros,
      boolean draining,
      int leases,
      int tickets,
      int publishes,
      int restores) {}

  /**
   * A page of leases.
   *
   * @param more whether others follow the last one
   */
  record LeasesAnswer(List<LeaseView> leases, boolean more) implements Answer {}

  record LeaseView(
      long leaseId,
      long sessionId,
      String request,
      int blocks,
      long chargedBytes,
      int runningRestores,
      long expiresAtMicros) {}

  record BlocksAnswer(List<BlockView> blocks, boolean more) implements Answer {}

  record BlockView(
      long blockId,
      String namespace,
      int groupId,
      String keyHex,
      BlockState state,
      int pins,
      long bytes,
      boolean onSsd) {}
}
