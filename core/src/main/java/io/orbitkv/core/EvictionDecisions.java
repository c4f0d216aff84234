package io.orbitkv.core;

import io.orbitkv.core.Command.Evict;
import io.orbitkv.core.Command.EvictSelector;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that leave for another reason than room for a publish: they were never sealed, their bytes
 * are damaged, or an operator asks. An operator's eviction walks the slots some hundred at a time
 * between other commands, so that dropping a million blocks stalls nobody.
 */
final class EvictionDecisions {
  private static final int SLOTS_PER_STEP = 512;
  private static final int MAX_SWEEPS = 16;

  private final Host host;
  private final TicketBook tickets;
  private final ArrayDeque<Sweep> sweeps = new ArrayDeque<>();

  /** An operator's eviction that is under way. */
  private static final class Sweep {
    final int namespaceId;
    final long beforeBlockId;
    final int slotLimit;
    final ReplySink replyTo;
    int nextSlot;
    long blocks;
    long freedBytes;
    long retainedBytes;

    /**
     * @param namespaceId 0 for all
     * @param beforeBlockId newer blocks stay
     */
    Sweep(int namespaceId, long beforeBlockId, int slotLimit, ReplySink replyTo) {
      this.namespaceId = namespaceId;
      this.beforeBlockId = beforeBlockId;
      this.slotLimit = slotLimit;
      this.replyTo = replyTo;
    }

    Reply.Evicted result() {
      return new Reply.Evicted(blocks, freedBytes, retainedBytes);
    }
  }

  EvictionDecisions(Host host, TicketBook tickets) {
    this.host = host;
    this.tickets = tickets;
  }

  // ---- room
  // --------------------------------------------------------------------------------------------------------

  /**
   * Lets blocks leave DRAM that hold so many bytes; false, and none leaves, if there are not
   * enough.
   */
  boolean makeRoom(long bytes, long forSessionId, String forRequest) {
    IntArrayList victims = new IntArrayList();
    for (long found = 0; found < bytes; ) {
      int slot = host.takeVictim();
      if (slot < 0) {
        for (int i = victims.size() - 1; i >= 0; i--) {
          int kept = victims.getInt(i);
          host.policy.putBack(kept, host.keyHash(kept));
        }
        return false;
      }
      victims.addInt(slot);
      found += host.allocatedBytes(slot);
    }
    giveUp(victims, EvictionCause.CAPACITY, forSessionId, forRequest);
    return true;
  }

  /**
   * The blocks leave DRAM, in this order. Those with a copy on SSD, which nothing may hold, can
   * still be found.
   */
  void giveUp(IntArrayList slots, EvictionCause cause, long forSessionId, String forRequest) {
    LongRanges.Builder demoted = new LongRanges.Builder();
    LongRanges.Builder evicted = new LongRanges.Builder();
    Map<SsdSkip, LongRanges.Builder> skipped =
        host.tier == null ? Map.of() : new EnumMap<>(SsdSkip.class);
    LongArrayList awaited = new LongArrayList();
    for (int i = 0; i < slots.size(); i++) {
      int slot = slots.getInt(i);
      if (host.state.unverified(slot)) {
        awaited.addLong(host.state.blockId(slot));
      }
      if (host.tier != null && host.state.onSsd(slot)) {
        demoted.add(host.state.blockId(slot));
      } else {
        evicted.add(host.state.blockId(slot));
        note(skipped, slot);
        host.leaves(slot);
      }
    }
    skipped.forEach((reason, ids) -> host.emit(new SsdSkipped(ids.build(), reason)));
    if (evicted.size() > 0) {
      host.emit(new BlocksEvicted(evicted.build(), cause, forSessionId, forRequest));
    }
    if (demoted.size() > 0) {
      host.emit(new BlocksDemoted(demoted.build(), cause, forSessionId, forRequest));
    }
    awaited.forEachLong(tickets::settled);
  }

  private void note(Map<SsdSkip, LongRanges.Builder> skipped, int slot) {
    SsdSkip reason = host.tier == null ? null : host.tier.whyUncopied(slot);
    if (reason != null) {
      skipped.computeIfAbsent(reason, _ -> new LongRanges.Builder()).add(host.state.blockId(slot));
    }
  }

  // ---- blocks that wait for another shard
  // --------------------------------------------------------------------------

  void watchUnsealed(LongRanges blocks) {
    host.timers.arm(new UnsealedBlocks(blocks), host.deadline(host.config.unsealedTtlMillis()));
  }

  /** Drops what still lacks a slice; what is being published right now gets another term. */
  void unsealedDue(UnsealedBlocks due) {
    LongRanges.Builder dropped = new LongRanges.Builder();
    LongRanges.Builder pending = new LongRanges.Builder();
    due.blocks.forEach(
        id -> {
          int slot = host.state.slotOf(id);
          if (slot >= 0 && isReserved(slot)) {
            (host.evictable(slot) ? dropped : pending).add(id);
          }
        });
    evict(dropped.build(), EvictionCause.NEVER_SEALED);
    if (pending.size() > 0) {
      watchUnsealed(pending.build());
    }
  }

  private boolean isReserved(int slot) {
    return switch (host.state.blockState(slot)) {
      case RESERVED -> true;
      case SEALED, EVICTED, DEMOTED, LOADING, UNVERIFIED -> false;
    };
  }

  private void evict(LongRanges ids, EvictionCause cause) {
    if (!ids.isEmpty()) {
      host.emit(new BlocksEvicted(ids, cause, 0, ""));
      ids.forEach(tickets::settled);
    }
  }

  // ---- damaged bytes
  // -----------------------------------------------------------------------------------------------

  /**
   * Drops a block whose bytes are not what was published; does nothing if it can be found no more.
   */
  void dropDamaged(long blockId) {
    int slot = host.state.slotOf(blockId);
    if (slot >= 0 && host.state.stored(slot)) {
      host.leaves(slot);
      evict(LongRanges.of(blockId, 1), EvictionCause.VERIFY_FAILED);
    }
  }

  // ---- operators
  // ---------------------------------------------------------------------------------------------------

  void evict(Evict command) {
    switch (command.selector()) {
      case EvictSelector.All _ -> begin(command, 0);
      case EvictSelector.OfNamespace(String name) -> {
        LiveNamespace namespace = host.namespaces.get(name);
        if (namespace == null) {
          host.reply(command.replyTo(), new Reply.Evicted(0, 0, 0));
        } else {
          begin(command, namespace.id);
        }
      }
      case EvictSelector.OfKeys(String name, int groupId, Keys keys) ->
          evictKeys(command, host.namespaces.get(name), groupId, keys);
    }
  }

  private void begin(Evict command, int namespaceId) {
    if (sweeps.size() >= MAX_SWEEPS) {
      host.reply(
          command.replyTo(),
          new Refused(RefusalCode.QUEUE_FULL, sweeps.size() + " evictions are under way"));
    } else {
      sweeps.addLast(
          new Sweep(
              namespaceId, host.state.nextBlockId(), host.state.slotLimit(), command.replyTo()));
    }
  }

  private void evictKeys(Evict command, @Nullable LiveNamespace namespace, int groupId, Keys keys) {
    if (keys.size() > host.config.maxBlocksPerRequest()) {
      host.reply(
          command.replyTo(),
          new Refused(
              RefusalCode.TOO_MANY_KEYS,
              "%d keys, at most %d".formatted(keys.size(), host.config.maxBlocksPerRequest())));
      return;
    }
    Sweep counts = new Sweep(0, Long.MAX_VALUE, 0, command.replyTo());
    LongRanges.Builder ids = new LongRanges.Builder();
    if (namespace != null) {
      KeySet seen = new KeySet(keys);
      for (int i = 0; i < keys.size(); i++) {
        int slot =
            host.state.findSlot(
                namespace.id, groupId, keys.packed(), keys.offset(i), keys.keyBytes());
        if (slot >= 0 && seen.add(i)) {
          take(counts, ids, slot);
        }
      }
    }
    evict(ids.build(), EvictionCause.REQUESTED);
    host.reply(command.replyTo(), counts.result());
  }

  private void take(Sweep sweep, LongRanges.Builder ids, int slot) {
    long bytes = host.allocatedBytes(slot);
    ids.add(host.state.blockId(slot));
    host.leaves(slot);
    sweep.blocks++;
    if (host.evictable(slot)) {
      sweep.freedBytes += bytes;
    } else {
      sweep.retainedBytes += bytes;
    }
  }

  /** Does the next part of an operator's eviction; returns how many slots it looked at. */
  int step() {
    Sweep sweep = sweeps.peekFirst();
    if (sweep == null) {
      return 0;
    }
    int end = Math.min(sweep.slotLimit, sweep.nextSlot + SLOTS_PER_STEP);
    int looked = end - sweep.nextSlot;
    LongRanges.Builder ids = new LongRanges.Builder();
    for (int slot = sweep.nextSlot; slot < end; slot++) {
      if (selects(sweep, slot)) {
        take(sweep, ids, slot);
      }
    }
    sweep.nextSlot = end;
    evict(ids.build(), EvictionCause.REQUESTED);
    if (end == sweep.slotLimit) {
      sweeps.removeFirst();
      host.reply(sweep.replyTo, sweep.result());
    }
    return looked + 1;
  }

  /** The daemon stops: those that wait for their evictions are told how far these came. */
  void refuseWaiting() {
    for (Sweep sweep = sweeps.pollFirst(); sweep != null; sweep = sweeps.pollFirst()) {
      host.reply(
          sweep.replyTo,
          new Refused(
              RefusalCode.DRAINING,
              "the daemon stops, and dropped %d blocks until then".formatted(sweep.blocks)));
    }
  }

  private boolean selects(Sweep sweep, int slot) {
    long id = host.state.blockId(slot);
    if (id == 0 || id >= sweep.beforeBlockId) {
      return false;
    }
    return switch (host.state.blockState(slot)) {
      case RESERVED, SEALED, DEMOTED, LOADING, UNVERIFIED ->
          sweep.namespaceId == 0 || host.state.namespaceId(slot) == sweep.namespaceId;
      case EVICTED -> false;
    };
  }

  boolean idle() {
    return sweeps.isEmpty();
  }
}
