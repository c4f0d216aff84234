package io.orbitkv.core;

import org.agrona.collections.IntArrayList;

/**
 * Which blocks go to SSD. A block takes its place in the tier's order of use, and its bytes there,
 * when it is admitted, so that what leaves the tier for it does not depend on how fast the disk is.
 * Then it waits in the backlog for its turn; nothing holds it in DRAM meanwhile, and if it leaves
 * before its turn it is counted as skipped.
 *
 * <p>While the disk is ill nothing is admitted, so that no copy goes for one that may never be
 * written. Blocks wait aside then and are offered again, in order, when it is well.
 */
final class TierAdmission {
  private final Host host;
  private final LiveTier tier;
  private final TierHealth health;
  private final TierRoom room;
  private final TierWrites writes;

  TierAdmission(Host host, LiveTier tier, TierHealth health, TierRoom room, TierWrites writes) {
    this.host = host;
    this.tier = tier;
    this.health = health;
    this.room = room;
    this.writes = writes;
  }

  /** Whether a block in DRAM has no copy on SSD and is not on its way to one. */
  boolean lacksCopy(int slot) {
    return !host.state.onSsd(slot)
        && !tier.isWriting(host.state.blockId(slot))
        && !tier.backlog.contains(slot);
  }

  /** Admits those of the blocks that are sealed and lack a copy, in this order. */
  void admit(IntArrayList slots, long forSessionId, String forRequest) {
    boolean well = health.takesWrites();
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      if (!host.state.sealed(slot) || !lacksCopy(slot)) {
        continue;
      }
      if (!well || !enter(slot)) {
        tier.aside.addLast(slot);
      }
    }
    room.drop(forSessionId, forRequest);
    if (well) {
      writes.begin(forSessionId, forRequest);
    }
    if (!tier.aside.isEmpty()) {
      health.tryLater();
    }
  }

  private boolean enter(int slot) {
    long bytes = host.allocatedBytes(slot);
    if (!room.choose(bytes)) {
      return false;
    }
    tier.aside.remove(slot);
    tier.policy.entered(slot, host.keyHash(slot));
    tier.enterBacklog(slot, bytes);
    return true;
  }

  /** The time has come to offer again what was set aside, or to see whether the disk is well. */
  void retryDue() {
    if (health.takesWrites()) {
      IntArrayList again = new IntArrayList();
      for (int slot = tier.aside.first(); slot >= 0; slot = tier.aside.next(slot)) {
        again.addInt(slot);
      }
      again.forEachInt(tier.aside::remove);
      admit(again, 0, "");
    } else if (health.mayTryWrite()) {
      tryOne();
    }
    if (!tier.aside.isEmpty() || !tier.backlog.isEmpty()) {
      health.tryLater();
    }
  }

  /** One block shows whether the disk can be written to again. */
  private void tryOne() {
    if (tier.backlog.isEmpty() && !tier.aside.isEmpty()) {
      enter(tier.aside.first());
      room.drop(0, "");
    }
    writes.begin(0, "");
  }
}
