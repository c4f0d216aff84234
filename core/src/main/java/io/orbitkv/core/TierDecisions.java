package io.orbitkv.core;

import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.BlockState;
import io.orbitkv.state.HostState;
import org.agrona.collections.IntArrayList;

/** What is decided about the SSD tier; there is none of these on a host without a tier. */
final class TierDecisions {
  private final Host host;
  private final LiveTier tier;
  private final TierHealth health;
  private final TierWrites writes;
  private final TierAdmission admission;
  final TierLoads loads;

  TierDecisions(Host host, LiveTier tier, EvictionDecisions evictions, TicketBook tickets) {
    this.host = host;
    this.tier = tier;
    this.health = new TierHealth(host, tier);
    TierRoom room = new TierRoom(host, tier, tickets);
    this.writes = new TierWrites(host, tier, health, room);
    this.admission = new TierAdmission(host, tier, health, room, writes);
    this.loads = new TierLoads(host, tier, health, evictions, tickets);
  }

  /**
   * Takes what the journal says lies on SSD into this epoch's books. The order of use died with the
   * daemon, so the oldest blocks come first.
   *
   * @param slots of all blocks by ascending id, and others with the id 0
   */
  void recover(int[] slots) {
    HostState state = host.state;
    int[] counts = new int[tier.extents.files()];
    state.forEachSsdExtent((file, _, _) -> counts[file]++);
    SsdExtents.Kept kept = tier.extents.kept(counts);
    state.forEachSsdExtent(kept::add);
    boolean wantsHash = tier.policy.wantsKeyHash();
    for (int slot : slots) {
      if (state.blockId(slot) != 0
          && state.onSsd(slot)
          && state.blockState(slot) != BlockState.EVICTED) {
        tier.policy.entered(slot, wantsHash ? host.keyHash(slot) : 0);
      }
    }
    tier.extents.occupy(kept);
  }

  /** Blocks were sealed, in request order. */
  void sealed(IntArrayList slots, long forSessionId, String forRequest) {
    if (tier.settings.admission() == SsdAdmission.ALL && !slots.isEmpty()) {
      admission.admit(slots, forSessionId, forRequest);
    }
  }

  /** Blocks in DRAM were used, in request order; those that have no copy get another chance. */
  void used(IntArrayList slots, long forSessionId, String forRequest) {
    if (!slots.isEmpty()) {
      admission.admit(slots, forSessionId, forRequest);
    }
  }

  /** Whether a block in DRAM has no copy on SSD and gets none right now. */
  boolean lacksCopy(int slot) {
    return admission.lacksCopy(slot);
  }

  void ended(SsdTask task) {
    if (task.isRead()) {
      loads.ended(task);
    } else {
      writes.ended(task);
    }
    health.taskEnded();
    writes.begin(0, "");
  }

  void retryDue() {
    admission.retryDue();
  }

  void watchDue() {
    health.watchDue();
  }
}
