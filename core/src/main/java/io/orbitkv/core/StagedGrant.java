package io.orbitkv.core;

import io.orbitkv.core.remote.BlockGrant;
import org.agrona.collections.LongArrayList;

/**
 * A request for a grant whose blocks are on their way from SSD; due when it waits no longer for
 * them.
 */
final class StagedGrant extends Timer {
  final Command.AuthorizeGrant request;
  final LiveNamespace namespace;

  /** The block of each wanted one, 0 where {@link #refused} says why there is none. */
  final long[] blockIds;

  final BlockGrant.NotGiven[] refused;

  /** Blocks that stay in DRAM for it. */
  final LongArrayList held = new LongArrayList();

  long chargedBytes;

  StagedGrant(Command.AuthorizeGrant request, LiveNamespace namespace) {
    this.request = request;
    this.namespace = namespace;
    this.blockIds = new long[request.blocks().size()];
    this.refused = new BlockGrant.NotGiven[request.blocks().size()];
  }
}
