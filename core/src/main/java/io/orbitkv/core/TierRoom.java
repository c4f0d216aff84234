package io.orbitkv.core;

import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.LongRanges;
import org.agrona.collections.LongArrayList;

/**
 * Room on SSD. Blocks that are admitted and not written yet have their bytes set aside, so that
 * copies go in the order of use and at the moment of admission, however fast the disk is.
 */
final class TierRoom {
  private final Host host;
  private final LiveTier tier;
  private final TicketBook tickets;
  private LongRanges.Builder chosen = new LongRanges.Builder();
  private LongRanges.Builder outranked = new LongRanges.Builder();
  private final LongArrayList gone = new LongArrayList();
  private long chosenBytes;

  TierRoom(Host host, LiveTier tier, TicketBook tickets) {
    this.host = host;
    this.tier = tier;
    this.tickets = tickets;
  }

  /** Bytes that nobody has, once those that were chosen have gone. */
  long freeBytes() {
    return tier.extents.freeBytes() - tier.backlogBytes() + chosenBytes;
  }

  /** Chooses copies, least lately used first, until so many bytes are free; false if none helps. */
  boolean choose(long neededBytes) {
    while (freeBytes() < neededBytes) {
      if (!chooseOne()) {
        return false;
      }
    }
    return true;
  }

  /** Chooses one more copy that may go; false if there is none. */
  boolean chooseOne() {
    int slot = tier.policy.takeVictim(this::mayGo);
    if (slot < 0) {
      return false;
    }
    if (tier.leaveBacklog(slot, host.allocatedBytes(slot))) {
      tier.skippedBlocks++;
      outranked.add(host.state.blockId(slot));
      return true;
    }
    for (int slice = 0; slice < host.state.slices(slot); slice++) {
      chosenBytes += host.state.extentBytes(slot, slice);
    }
    chosen.add(host.state.blockId(slot));
    if (!host.state.sealed(slot) && !host.state.unverified(slot)) {
      gone.addLong(host.state.blockId(slot));
    }
    return true;
  }

  private boolean mayGo(int slot) {
    if (tier.backlog.contains(slot)) {
      return true;
    }
    return host.state.onSsd(slot)
        && switch (host.state.blockState(slot)) {
          case SEALED, UNVERIFIED -> true;
          case DEMOTED -> !tier.holds(host.state.blockId(slot));
          case RESERVED, LOADING, EVICTED -> false;
        };
  }

  /** Drops what was chosen. */
  void drop(long forSessionId, String forRequest) {
    if (outranked.size() > 0) {
      LongRanges ids = outranked.build();
      outranked = new LongRanges.Builder();
      host.emit(new SsdSkipped(ids, SsdSkip.TIER_FULL));
    }
    if (chosen.size() == 0) {
      return;
    }
    LongRanges ids = chosen.build();
    chosen = new LongRanges.Builder();
    chosenBytes = 0;
    host.emit(new SsdEvicted(ids, SsdEvictionCause.CAPACITY, forSessionId, forRequest));
    gone.forEachLong(tickets::settled);
    gone.clear();
  }
}
