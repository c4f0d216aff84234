package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.OpenPublish;
import io.orbitkv.state.OpenRemoteRead;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.util.Objects;

/**
 * What others may be told of a block: in which tiers it can be read, and at which generation. A
 * block of several slices has the highest of their generations, which grows as theirs do.
 */
final class ReadableBlocks {
  /** No generation: the block cannot be read in that tier. */
  static final long NONE = 0;

  private ReadableBlocks() {}

  /** The blocks that a fact may make readable or unreadable, told before it is applied. */
  static LongRanges touchedBy(HostEvent event, HostState before) {
    return switch (event) {
      case HostEvent.SlicesPublished published -> blocksOf(before, published.publishId());
      case HostEvent.RemoteReadEnded ended -> blocksOfRead(before, ended.readId());
      case HostEvent.BlocksEvicted evicted -> evicted.blocks();
      case HostEvent.SsdWritten written -> written.blocks();
      case HostEvent.SsdEvicted evicted -> evicted.blocks();
      case HostEvent.BlocksDemoted demoted -> demoted.blocks();
      case HostEvent.BlocksLoading loading -> loading.blocks();
      case HostEvent.BlocksLoaded loaded -> loaded.blocks();
      case HostEvent.LoadFailed failed -> failed.blocks();
      case HostEvent.BlocksKept kept -> kept.blocks();
      case HostEvent.BlocksAdopted adopted -> adopted.blocks();
      case HostEvent.BlocksNotAdopted lost -> lost.blocks();
      case HostEvent.SsdSkipped skipped -> skipped.blocks();
      case HostEvent.EpochStarted _,
          HostEvent.EpochEnded _,
          HostEvent.NamespaceBound _,
          HostEvent.NamespaceUnbound _,
          HostEvent.InstanceRegistered _,
          HostEvent.InstanceCleaned _,
          HostEvent.SessionOpened _,
          HostEvent.SessionClosed _,
          HostEvent.SlicesReserved _,
          HostEvent.PublishAborted _,
          HostEvent.LeaseGranted _,
          HostEvent.LeaseReleased _,
          HostEvent.TicketOpened _,
          HostEvent.TicketClosed _,
          HostEvent.RestoreStarted _,
          HostEvent.RestoreFinished _,
          HostEvent.SsdTierOpened _,
          HostEvent.LayersBound _,
          HostEvent.TierDegraded _,
          HostEvent.TierRecovered _,
          HostEvent.PoolOpened _,
          HostEvent.GrantOpened _,
          HostEvent.GrantClosed _,
          HostEvent.RemoteReadBegun _,
          HostEvent.RemoteReadQuarantined _,
          HostEvent.Observation _ ->
          LongRanges.EMPTY;
    };
  }

  private static LongRanges blocksOfRead(HostState state, long readId) {
    OpenRemoteRead read = state.remoteRead(readId);
    return read == null ? LongRanges.EMPTY : read.blocks();
  }

  private static LongRanges blocksOf(HostState state, long publishId) {
    OpenPublish publish = state.publish(publishId);
    return publish == null ? LongRanges.EMPTY : publish.blocks();
  }

  /**
   * The generation at which a block can be read in a tier, or {@link #NONE}.
   *
   * @param slot the block's, or -1
   */
  static long generation(HostState state, int slot, Tier tier) {
    if (slot < 0) {
      return NONE;
    }
    return switch (tier) {
      case DRAM -> state.sealed(slot) ? dramGeneration(state, slot) : NONE;
      case SSD -> state.stored(slot) && state.onSsd(slot) ? ssdGeneration(state, slot) : NONE;
    };
  }

  private static long dramGeneration(HostState state, int slot) {
    long highest = NONE;
    for (int slice = 0; slice < state.slices(slot); slice++) {
      highest = Math.max(highest, state.extentGeneration(slot, slice));
    }
    return highest;
  }

  private static long ssdGeneration(HostState state, int slot) {
    long highest = NONE;
    for (int slice = 0; slice < state.slices(slot); slice++) {
      highest = Math.max(highest, state.ssdGeneration(slot, slice));
    }
    return highest;
  }

  /** Bytes of all its slices in DRAM, or what they would take there. */
  static long bytes(HostState state, int slot) {
    long bytes = 0;
    for (int slice = 0; slice < state.slices(slot); slice++) {
      bytes += state.extentBytes(slot, slice);
    }
    return bytes;
  }

  /** The key of a block that is there. */
  static StateKey key(HostState state, int slot) {
    byte[] hash = new byte[state.keyBytes(slot)];
    state.copyKey(slot, hash, 0);
    return new StateKey(
        new Namespace(Objects.requireNonNull(state.namespace(state.namespaceId(slot))).name()),
        state.groupId(slot),
        BlockHash.read(hash, 0, hash.length));
  }
}
