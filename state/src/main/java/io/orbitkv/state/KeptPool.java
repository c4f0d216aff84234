package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksAdopted;
import io.orbitkv.state.HostEvent.BlocksKept;
import io.orbitkv.state.HostEvent.BlocksNotAdopted;
import io.orbitkv.state.HostEvent.PoolFact;
import io.orbitkv.state.HostEvent.PoolOpened;
import io.orbitkv.state.Totals.PoolCounter;
import java.io.IOException;

/**
 * DRAM that outlives the daemon: which pool the extents lie in, and what becomes of the blocks that
 * an earlier run left there. While there is such a pool, leases leave their position with their
 * blocks, so that the order of use outlives the daemon as well. That order is advice: it is in
 * checkpoints but not in the digest.
 */
final class KeptPool {
  private final BlockTable blocks;
  private final Totals totals;

  /** Whether there was any fact of such a pool; digest and checkpoint say nothing before. */
  boolean used;

  long idHigh;
  long idLow;

  KeptPool(BlockTable blocks, Totals totals) {
    this.blocks = blocks;
    this.totals = totals;
  }

  /** Whether blocks outlive the daemon. */
  boolean keeps() {
    return (idHigh | idLow) != 0;
  }

  long digest() {
    return used ? Mix.mix(Mix.chain(Mix.chain(0x9001L, idHigh), idLow)) : 0;
  }

  void apply(long position, PoolFact fact, Effects effects) {
    used = true;
    switch (fact) {
      case PoolOpened event -> open(position, event);
      case BlocksKept event -> keep(position, event);
      case BlocksAdopted event -> adopt(position, event);
      case BlocksNotAdopted event -> reject(position, event, effects);
    }
  }

  private void open(long position, PoolOpened event) {
    boolean same = event.poolIdHigh() == idHigh && event.poolIdLow() == idLow && keeps();
    HostInvariants.require(
        same || blocks.extents() == 0,
        position,
        "another pool is opened while %d extents lie in the one before; they are dropped first",
        blocks.extents());
    idHigh = event.poolIdHigh();
    idLow = event.poolIdLow();
    blocks.keepsUse = keeps();
    totals.add(PoolCounter.OPENED, 1);
  }

  private void keep(long position, BlocksKept event) {
    HostInvariants.require(
        keeps(), position, "blocks are kept in a pool that dies with the daemon");
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.findable(position, blocks, slot, id, "kept");
        if (blocks.state(slot) != BlockChunk.SEALED || blocks.pins(slot) != 0) {
          throw HostInvariants.broken(
              position,
              "block %d is kept in state %d with %d pins; only sealed ones that nobody uses are",
              id,
              blocks.state(slot),
              blocks.pins(slot));
        }
        blocks.unverified(slot);
      }
    }
    totals.add(PoolCounter.KEPT_BLOCKS, ids.size());
  }

  private void adopt(long position, BlocksAdopted event) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        requireUnverified(position, slot, id, "adopted");
        blocks.seal(slot);
      }
    }
    totals.add(PoolCounter.ADOPTED_BLOCKS, ids.size());
    totals.add(PoolCounter.ADOPTED_BYTES, event.bytes());
    totals.add(PoolCounter.ADOPT_MICROS, event.durationMicros());
  }

  private void reject(long position, BlocksNotAdopted event, Effects effects) {
    LongRanges ids = event.blocks();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        requireUnverified(position, slot, id, "not adopted");
        if (blocks.ssd.has(slot)) {
          for (int slice = 0; slice < blocks.slices(slot); slice++) {
            blocks.freeSlice(slot, slice, effects);
          }
          blocks.demoted(slot);
        } else {
          blocks.evict(slot, 1, effects);
        }
      }
    }
    totals.adoptionsFailed.add(event.reason(), ids.size());
  }

  private void requireUnverified(long position, int slot, long id, String done) {
    HostInvariants.findable(position, blocks, slot, id, done);
    if (blocks.state(slot) != BlockChunk.UNVERIFIED) {
      throw HostInvariants.broken(
          position, "block %d is %s in state %d, and was not kept", id, done, blocks.state(slot));
    }
  }

  // ---- checkpoint ------------------------------------------------------------------------------

  void writeTo(FrameWriter to) throws IOException {
    HostSnapshot.writeSections(totals.poolSections(), to);
    to.fixed(idHigh);
    to.fixed(idLow);
  }

  void readFrom(FrameReader from) throws IOException {
    used = true;
    HostSnapshot.readSections(totals.poolSections(), from);
    idHigh = from.fixed();
    idLow = from.fixed();
    blocks.keepsUse = keeps();
  }
}
