package io.orbitkv.state;

/** One group of one bound namespace, as the block table refers to it: by a small number. */
final class GroupRow {
  final int row;
  final int namespaceId;
  final int groupId;
  final boolean replicated;

  /** Slices that a block of the group stores. */
  final int slices;

  /** What sets the hashes of this group's keys apart from those of every other group. */
  final long seed;

  /** Blocks of the group, evicted ones that are still pinned among them. */
  long blocks;

  GroupRow(int row, int namespaceId, int groupId, boolean replicated, int shardCount) {
    this.row = row;
    this.namespaceId = namespaceId;
    this.groupId = groupId;
    this.replicated = replicated;
    this.slices = replicated ? 1 : shardCount;
    this.seed = Mix.mix(Mix.chain(Mix.mix(namespaceId), groupId));
  }

  /** Which slice holds the bytes of a shard. */
  int slice(int shard) {
    return replicated ? 0 : shard;
  }
}
